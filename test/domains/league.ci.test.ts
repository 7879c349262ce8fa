import test from 'ava'
import type { Owner } from '../helpers/database/database.ts'
import { countStatements } from '../helpers/database/statements.ts'
import { makeDomain, serveDomain } from '../helpers/domain/made-domain.ts'
import type { Json } from '../helpers/service/client.ts'
import type { TestService } from '../helpers/service/service.ts'

// Matches of two teams each: resources that refer to one collection several times.

const releases: (() => Promise<void>)[] = []
const owner: Owner = { teardown: (release) => void releases.push(release) }
let service: TestService

test.serial.before('the league is made and served, with three teams and three matches', async (t) => {
  t.timeout(600_000)
  service = await serveDomain(owner, await makeDomain(owner, 'league'))
  await put('/clubs/nord', { name: 'Nordhalle' })
  for (const id of ['lions', 'bears', 'foxes']) await put(`/teams/${id}`, { name: id, club_id: 'nord' })
  await put('/matches/one', match('lions', 'bears', 'foxes'))
  await put('/matches/two', match('bears', 'lions'))
  await put('/matches/three', match('lions', 'foxes'))
  await put('/teams/lions/transfers/ama', { player: 'Ama', to_team_id: 'bears' })
})

test.after.always(async () => {
  for (const release of releases.reverse()) await release()
})

async function put(path: string, body: object): Promise<void> {
  const id = path.split('/').at(-1)
  const { status, text } = await service.writer.put(path, { id, ...body })
  if (status !== 201) throw new Error(`${path}: ${status} ${text}`)
}

const match = (home: string, away: string, substitute?: string) => ({
  played_on: '2031-06-01',
  home_team_id: home,
  away_team_id: away,
  ...(substitute !== undefined && { substitute_id: substitute }),
})

const idsIn = (list: Json): string[] =>
  Object.values(list._embedded)
    .flat()
    .map(({ id }: Json) => id)

const below = (href: string) => href.slice(service.base.length)

test.serial(
  'each of several references to a collection has a link, and its list has one from the target',
  async (t) => {
    const { body: one } = await service.reader.get('/matches/one')
    const links = ['home_team', 'away_team', 'substitute'].map((name) => below(one._links[name].href))
    t.deepEqual(links, ['/teams/lions', '/teams/bears', '/teams/foxes'])
    const { body: lions } = await service.reader.get('/teams/lions')
    const lists = ['home-matches', 'away-matches', 'matches'].map((name) => below(lions._links[name].href))
    t.deepEqual(lists, [
      '/teams/lions/matches',
      '/matches?filter=away_team_id:lions',
      '/matches?filter=substitute_id:lions',
    ])
    const listed = await Promise.all(lists.map((path) => service.reader.get(path)))
    t.deepEqual(
      listed.map(({ body }) => idsIn(body)),
      [['one', 'three'], ['two'], []],
    )
    t.is((await service.reader.get('/teams/lions/matches?filter=away_team_id:foxes')).body.total_count, 1)
  },
)

test.serial(
  'each is embedded under its own name, from both sides, with one statement for each relation',
  async (t) => {
    const { body } = await service.reader.get('/matches/one?embed=home_team,away_team,substitute')
    const names = ['home_team', 'away_team', 'substitute'].map((name) => body._embedded[name].id)
    t.deepEqual(names, ['lions', 'bears', 'foxes'])
    const path = '/teams?sort=id:asc&embed=home-matches,away-matches,matches'
    const { result, statements } = await countStatements(() => service.reader.get(path))
    const teams = result.body._embedded.teams.map(({ id, _embedded }: Json) => [
      id,
      ...['home-matches', 'away-matches', 'matches'].map((name) => idsIn(_embedded[name])),
    ])
    t.deepEqual(teams, [
      ['bears', ['two'], ['one'], []],
      ['foxes', [], ['three'], ['one']],
      ['lions', ['one', 'three'], ['two'], []],
    ])
    // The fifth reads the clubs, which the titles of the teams name.
    t.is(statements.length, 5)
  },
)

test.serial('GraphQL has a field, a filter and a list for each reference', async (t) => {
  const query = `{
    matchPage(sort: { field: ID }, filter: { homeTeam: { name: { equals: "lions" } }, awayTeam: { name: { notEquals: "bears" } } }) {
      items { id homeTeam { id } awayTeam { id } }
    }
    nested: matchPage(homeTeamId: "bears") { items { id } }
    team(id: "bears") {
      homeMatches { items { id } }
      awayMatchesConnection { nodes { id } }
      matches { totalCount }
      transfers { totalCount }
      arrivals { items { player team { id } toTeam { id } } }
    }
  }`
  const { data, errors } = await service.reader.graphql(query)
  t.is(errors, undefined)
  t.deepEqual(data, {
    matchPage: { items: [{ id: 'three', homeTeam: { id: 'lions' }, awayTeam: { id: 'foxes' } }] },
    nested: { items: [{ id: 'two' }] },
    team: {
      homeMatches: { items: [{ id: 'two' }] },
      awayMatchesConnection: { nodes: [{ id: 'one' }] },
      matches: { totalCount: 0 },
      transfers: { totalCount: 0 },
      arrivals: { items: [{ player: 'Ama', team: { id: 'lions' }, toTeam: { id: 'bears' } }] },
    },
  })
})

test.serial(
  'forms offer the teams for each reference, and fill in the one whose list they are on',
  async (t) => {
    const forms = service.writer.accepting('application/prs.hal-forms+json')
    const valuesOn = async (path: string) => {
      const { body } = await forms.get(path)
      const properties: Json[] = body._templates.default.properties
      return properties.flatMap(({ name, value, options }) =>
        options ? [[name, value, below(options.link.href)]] : [],
      )
    }
    const filled = (home?: string) => [
      ['home_team_id', home, '/teams'],
      ['away_team_id', undefined, '/teams'],
      ['substitute_id', undefined, '/teams'],
    ]
    t.deepEqual(await valuesOn('/matches'), filled())
    t.deepEqual(await valuesOn('/teams/lions/matches'), filled('lions'))
    const { body } = await service.reader.get('/profile/matches')
    const relations = Object.values(body.references).map((one: Json) => one.relation)
    t.deepEqual(relations, ['home_team', 'away_team', 'substitute'])
  },
)

test.serial(
  'an unknown team is refused at the field that names it, and each field keeps what it refers to',
  async (t) => {
    const refused = await service.writer.post('/matches', match('lions', 'wolves', 'bats'))
    t.deepEqual(
      refused.body.error.details.map(({ field, code }: Json) => [field, code]),
      [
        ['away_team_id', 'UNKNOWN_REFERENCE'],
        ['substitute_id', 'UNKNOWN_REFERENCE'],
      ],
    )
    await put('/teams/owls', { name: 'Owls', club_id: 'nord' })
    await put('/matches/night', match('lions', 'foxes', 'owls'))
    t.is((await service.writer.patch('/matches/night', { away_team_id: 'owls' })).status, 204)
    t.is((await service.writer.delete('/teams/owls')).status, 409)
    t.is((await service.writer.patch('/matches/night', { away_team_id: 'foxes' })).status, 204)
    t.is((await service.writer.delete('/teams/owls')).status, 204)
    t.is((await service.reader.get('/matches/night')).body.substitute_id, undefined)
    t.is((await service.writer.delete('/matches/night')).status, 204)
  },
)

const titleOf = ({ _links }: Json): string => _links.self.title

test.serial(
  'a title has those of the resources that it names, one level, with one statement for each',
  async (t) => {
    const { reader } = service
    t.is(titleOf((await reader.get('/teams/lions')).body), 'lions Nordhalle')
    t.is(titleOf((await reader.get('/teams/lions?fields=id')).body), 'lions Nordhalle')
    t.is(titleOf((await reader.get('/matches/one')).body), '2031-06-01 lions bears')
    t.is(titleOf((await reader.get('/teams/lions/transfers/ama')).body), 'Ama lions')
    const { result, statements } = await countStatements(() => reader.get('/matches?sort=id:asc'))
    t.deepEqual(result.body._embedded.matches.map(titleOf), [
      '2031-06-01 lions bears',
      '2031-06-01 lions foxes',
      '2031-06-01 bears lions',
    ])
    t.is(statements.length, 2)
    const { data } = await reader.graphql('{ match(id: "one") { displayName homeTeam { displayName } } }')
    t.deepEqual(data.match, {
      displayName: '2031-06-01 lions bears',
      homeTeam: { displayName: 'lions Nordhalle' },
    })
  },
)

test.serial(
  'a search finds a row by a title that its own title names, in any case and with words of both',
  async (t) => {
    await put('/clubs/south', { name: 'Southfield' })
    await put('/teams/crows', { name: 'crows', club_id: 'south' })
    const found = async (words: string, client = service.reader) =>
      idsIn((await client.get(`/teams?sort=id:asc&q=${encodeURIComponent(words)}`)).body)
    t.deepEqual(await found('southFIELD'), ['crows'])
    t.deepEqual(await found('nord BEAR'), ['bears'])
    t.deepEqual(await found('nordhalle'), ['bears', 'foxes', 'lions'])
    t.deepEqual(await found('crows nordhalle'), [])
    const alone = service.withScope('teams:read')
    t.deepEqual([await found('southfield', alone), await found('crow', alone)], [[], ['crows']])
    t.is(titleOf((await alone.get('/teams/crows')).body), 'crows')
  },
)

test.serial(
  'entity tags change with the titles that a title names, and conditional writes do not',
  async (t) => {
    const { writer } = service
    await put('/clubs/west', { name: 'West' })
    await put('/teams/hawks', { name: 'hawks', club_id: 'west' })
    const paths = ['/teams/hawks', '/teams?filter=club_id:west', '/teams/hawks?fields=name']
    const tagged = await Promise.all(
      paths.map(async (path) => [path, (await writer.get(path)).headers.get('etag') as string] as const),
    )
    const statuses = () =>
      Promise.all(
        tagged.map(async ([path, tag]) => (await writer.get(path, { 'if-none-match': tag })).status),
      )
    t.deepEqual(await statuses(), [304, 304, 304])
    await writer.patch('/clubs/west', { name: 'Western' })
    t.deepEqual(await statuses(), [200, 200, 200])
    t.is(titleOf((await writer.get('/teams/hawks')).body), 'hawks Western')
    t.is((await writer.get('/teams/hawks')).headers.get('last-modified'), null)
    const [[path, tag]] = tagged as [readonly [string, string]]
    t.is((await writer.patch(path, { name: 'falcons' }, { 'if-match': tag })).status, 204)
    t.is((await writer.patch(path, { name: 'eagles' }, { 'if-match': tag })).status, 409)
  },
)
