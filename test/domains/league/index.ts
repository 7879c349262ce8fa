import { type Domain, date, defineResource, integer, reference, text } from 'halgraph/domain'

/* Matches of two teams each: resources that refer to one collection several times. */

export const clubs = defineResource({
  kind: 'collection',
  name: 'Club',
  path: 'clubs',
  description: 'A club.',
  fields: { name: text('Name.', { required: true, unique: true }) },
})

export const teams = defineResource({
  kind: 'collection',
  name: 'Team',
  path: 'teams',
  description: 'A team of a club.',
  title: ['name', 'club'],
  fields: {
    name: text('Name.', { required: true }),
    club_id: reference('clubs', 'club', 'The club.', { required: true }),
  },
})

export const matches = defineResource({
  kind: 'collection',
  name: 'Match',
  path: 'matches',
  description: 'A match of two teams.',
  title: ['played_on', 'home_team', 'away_team'],
  fields: {
    played_on: date('Day.', { required: true }),
    home_team_id: reference('teams', 'home_team', 'The team that plays at home.', {
      required: true,
      inverse: 'home-matches',
      nested: true,
    }),
    away_team_id: reference('teams', 'away_team', 'The team that travels.', {
      required: true,
      inverse: 'away-matches',
    }),
    substitute_id: reference('teams', 'substitute', 'The team that plays if another one cannot.', {
      onDelete: 'set null',
    }),
  },
})

export const transfers = defineResource({
  kind: 'owned',
  owner: teams,
  name: 'Transfer',
  path: 'transfers',
  description: 'A player who leaves a team for another one.',
  title: ['player', 'parent'],
  fields: {
    player: text('Name of the player.', { required: true }),
    to_team_id: reference('teams', 'to_team', 'The team that the player joins.', { inverse: 'arrivals' }),
    fee: integer('Fee, in euros.', { minimum: 0 }),
  },
})

export const domain: Domain = {
  title: 'League',
  description: 'Clubs, their teams, and the matches between these.',
  resources: [clubs, teams, matches, transfers],
}
