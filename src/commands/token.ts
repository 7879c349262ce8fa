import { parseArgs } from 'node:util'
import { mintToken, tokenSettings } from '../development-token.ts'
import { readSettings } from '../settings.ts'
import { runCommand } from './command.ts'

const usage = `Prints an access token, signed with JWT_SECRET or the development secret in DATA_DIR.

  npm run --silent token -- --scope "species:read planets:write" --expires-in 30d --subject ada

  --scope       scopes parted by spaces; default "*:read *:write", which is all of them
  --expires-in  seconds, or a time with its unit as in 90m, 12h, 30d; default 12h
  --subject     who the token is for`

await runCommand(async () => {
  const { values } = parseArgs({
    options: {
      scope: { type: 'string', default: '*:read *:write' },
      'expires-in': { type: 'string', default: '12h' },
      subject: { type: 'string' },
      help: { type: 'boolean', short: 'h' },
    },
  })
  if (values.help) return console.log(usage)
  const settings = await tokenSettings(readSettings(process.env))
  const { scope, subject } = values
  console.log(mintToken(settings, { scope, subject, expiresIn: values['expires-in'] }))
})
