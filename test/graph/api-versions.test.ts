import test from 'ava'
import {
  type GraphQLEnumType,
  type GraphQLInputObjectType,
  type GraphQLObjectType,
  isRequiredInputField,
} from 'graphql'
import { createCompleteSchema } from '../../src/service/features.ts'
import { versionedDomain } from '../helpers/domain/versioned-domain.ts'
import { shareTestService } from '../helpers/service/service.ts'

const service = shareTestService(test, {}, { domain: versionedDomain })
const schema = createCompleteSchema(versionedDomain.resources, versionedDomain.versions)

test('the schema has the fields of all versions; those that end are deprecated', (t) => {
  const species = (schema.getType('Species') as GraphQLObjectType).getFields()
  t.is(species['habitat']?.deprecationReason, 'Not in API versions after v1.')
  t.is(species['planet']?.deprecationReason, 'Not in API versions after v1.')
  t.is(species['commonName']?.deprecationReason, undefined)
  const sorts = schema.getType('SpeciesSortField') as GraphQLEnumType
  t.is(sorts.getValue('HABITAT')?.deprecationReason, 'Not in API versions after v1.')
  const planet = (schema.getType('Planet') as GraphQLObjectType).getFields()
  t.true('habitable' in planet && planet['habitable']?.deprecationReason === undefined)
})

test('an input need not have the required fields of some versions', (t) => {
  const { discoveryMethod, name } = (schema.getType('PlanetInput') as GraphQLInputObjectType).getFields()
  t.false(discoveryMethod && isRequiredInputField(discoveryMethod))
  t.true(name && isRequiredInputField(name))
  const { intelligenceLevel } = (schema.getType('SpeciesInput') as GraphQLInputObjectType).getFields()
  t.is(intelligenceLevel?.deprecationReason, 'Not in API versions after v1.')
})

test('a write without a version sets all fields; with one, it keeps those of others', async (t) => {
  const { writer } = service()
  const create = `mutation ($input: PlanetInput!) { write: createPlanet(input: $input) {
    planet { id discoveryMethod habitable } } }`
  const { data } = await writer.graphql(create, { input: { name: 'Omnis', habitable: true } })
  const { id } = data.write.planet
  t.like(data.write.planet, { discoveryMethod: 'Not known', habitable: true })
  const put = async (apiVersion: string | undefined, input: object) =>
    writer.graphql(
      `mutation ($id: ID!, $input: PlanetInput!, $apiVersion: ApiVersion) {
        write: putPlanet(id: $id, input: $input, apiVersion: $apiVersion) {
          outcome planet { discoveryMethod habitable hostStar } } }`,
      { id, input, apiVersion },
    )
  const old = await put('v1', { name: 'Omnis', hostStar: 'Vega' })
  t.deepEqual(old.data.write.planet, { discoveryMethod: 'Not known', habitable: true, hostStar: 'Vega' })
  const whole = await put(undefined, { name: 'Omnis', discoveryMethod: 'Transit' })
  t.deepEqual(whole.data.write.planet, { discoveryMethod: 'Transit', habitable: null, hostStar: null })
  const unknown = await put('v1', { name: 'Omnis', habitable: true })
  t.is(unknown.errors?.[0].extensions.code, 'VALIDATION_FAILED')
  const blank = await put(undefined, { name: 'Omnis', discoveryMethod: ' ' })
  t.is(blank.errors?.[0].extensions.code, 'VALIDATION_FAILED')
})
