import { mintToken, tokenSettings } from '../development-token.ts'
import { readSettings } from '../settings.ts'
import { runCommand } from './command.ts'

const usage = `Prints an access token, signed with JWT_SECRET or the development secret in DATA_DIR.

  npm run --silent token -- --scope "species:read planets:write" --expires-in 30d --subject ada

  --scope       scopes separated by spaces; default: "*:read *:write"
  --expires-in  seconds, or a duration such as 90m, 12h or 30d; default: 12h
  --subject     the subject of the token`

const options = {
  scope: { type: 'string', default: '*:read *:write' },
  'expires-in': { type: 'string', default: '12h' },
  subject: { type: 'string' },
} as const

await runCommand(usage, { options }, async ({ values }) => {
  const settings = await tokenSettings(readSettings(process.env))
  const { scope, subject, 'expires-in': expiresIn } = values
  console.log(mintToken(settings, { scope, subject, expiresIn }))
})
