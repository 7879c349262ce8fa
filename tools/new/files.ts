/** The versions of the packages that a new project names, and how it gets this one. */
export interface Versions {
  readonly halgraph: string
  readonly '@types/node': string
  readonly prisma: string
  readonly typescript: string
}

/**
 * The files of a new domain, by their names: one resource, and what builds, serves and deploys it.
 *
 * @param name of the package, such as `my-catalogue`
 */
export function projectFiles(name: string, versions: Versions): ReadonlyMap<string, string> {
  const words = name.replaceAll(/[-_.]+/g, ' ')
  const title = words.charAt(0).toUpperCase() + words.slice(1)
  return new Map([
    ['index.ts', index(title)],
    ['items.ts', ITEMS],
    ['items.test.ts', TEST],
    ['package.json', `${JSON.stringify(packageJson(name, title, versions), null, 2)}\n`],
    ['tsconfig.json', TSCONFIG],
    ['.env', ENVIRONMENT],
    ['.npmrc', NPMRC],
    ['.gitignore', 'node_modules\ndist\ndist.*\ngenerated\n.data\n'],
    ['.dockerignore', 'node_modules\ndist\ndist.*\ngenerated\n.data\n.git\n'],
    ['Dockerfile', DOCKERFILE],
    ['README.md', readme(title)],
  ])
}

const index = (title: string) => `import type { Domain } from 'halgraph/domain'
import { items } from './items.ts'

export const domain: Domain = {
  title: '${title}',
  description: 'A catalogue of items.',
  resources: [items],
}
`

const ITEMS = `import { date, decimal, defineResource, enumeration, text } from 'halgraph/domain'

export const items = defineResource({
  kind: 'collection',
  name: 'Item',
  path: 'items',
  description: 'An item of the catalogue.',
  fields: {
    name: text('Name, unique regardless of case.', { required: true, unique: true, index: 'sort' }),
    status: enumeration(['draft', 'available', 'sold_out'], 'Status. A new item is a draft.', {
      initially: 'draft',
    }),
    price: decimal(10, 2, 'Price, in euros.', { minimum: 0 }),
    available_from: date('First day on which it is available.'),
    contact: text('E-mail address for questions.', { format: 'email' }),
  },
  example: { name: 'Paper kite', price: '12.50', available_from: '2031-06-01', contact: 'ask@example.com' },
})
`

const TEST = `import assert from 'node:assert/strict'
import test from 'node:test'
import { type Representation, startTestService } from 'halgraph/testing'
import type { items } from './items.ts'

test('a new item is a draft', async (t) => {
  const { writer } = await startTestService(t)
  const { status, body } = await writer.post<Representation<typeof items>>('/items', { name: 'Paper kite' })
  assert.deepEqual([status, body.status], [201, 'draft'])
})
`

const COMMANDS =
  'build start dev test documents migrate resource seed token import export restored doctor studio'

function packageJson(name: string, title: string, { halgraph, ...development }: Versions): object {
  return {
    name,
    version: '0.1.0',
    description: title,
    private: true,
    type: 'module',
    scripts: Object.fromEntries(COMMANDS.split(' ').map((command) => [command, `halgraph ${command}`])),
    dependencies: { halgraph },
    devDependencies: development,
  }
}

const TSCONFIG = `{
  "compilerOptions": {
    "target": "es2023",
    "module": "nodenext",
    "types": ["node"],
    "strict": true,
    "noUncheckedIndexedAccess": true,
    "exactOptionalPropertyTypes": true,
    "verbatimModuleSyntax": true,
    "allowImportingTsExtensions": true,
    "skipLibCheck": true,
    "noEmit": true
  },
  "include": ["*.ts"]
}
`

const ENVIRONMENT = `# Settings that hold wherever this runs. Secrets and addresses belong in the environment.
DOMAIN=.
`

const NPMRC = `# No package needs an install script. Prisma's would download an engine that is never used.
ignore-scripts=true
`

const DOCKERFILE = `# docker build -t catalogue . && docker run -p 3000:3000 -e JWT_SECRET=… -e DATABASE_URL=… catalogue
FROM node:24-slim AS build
WORKDIR /app
COPY . .
RUN npm install && npx halgraph build && npm prune --omit=dev --omit=optional

FROM node:24-slim
WORKDIR /app
COPY --from=build /app ./
RUN mkdir -m 700 /data && chown node:node /data
VOLUME /data
USER node
ENV NODE_ENV=production DATA_DIR=/data PORT=3000
EXPOSE 3000
ENTRYPOINT ["node", "node_modules/halgraph/bin/halgraph.js"]
CMD ["start"]
`

const readme = (title: string) => `# ${title}

\`\`\`sh
npm install
npx halgraph dev    # serves on port 3000 while you change the definitions, and prints a token
npm test            # runs items.test.ts, each test on a database of its own
\`\`\`

\`index.ts\` lists the resources, and each has a file such as \`items.ts\`. \`npx halgraph resource new authors\` adds one.
\`npx halgraph dev\` writes and applies the migration of each change; where a change needs a decision, and without it, run
\`npx halgraph resource migrate\`. Commit \`prisma/\`.

\`npx halgraph --help\` lists the commands. For production, set DATABASE_URL to a PostgreSQL server and JWT_SECRET, or
build the image of the \`Dockerfile\`.
`
