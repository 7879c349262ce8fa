import { boolean, defineResource, integer, magnitude, text } from '../definition.ts'

export const planets = defineResource({
  kind: 'collection',
  name: 'Planet',
  path: 'planets',
  description: 'A planet, measured or known only as the origin of a species.',
  fields: {
    name: text('Name, unique regardless of case.', { required: true, unique: true }),
    host_star: text('Name of the host star.'),
    distance_parsecs: magnitude('Distance from the Sun, in parsecs.', { label: 'Distance', unit: 'parsecs' }),
    mass_jupiters: magnitude('Mass, in masses of Jupiter.', { label: 'Mass', unit: 'Jupiter masses' }),
    radius_jupiters: magnitude('Radius, in radii of Jupiter.', { label: 'Radius', unit: 'Jupiter radii' }),
    orbital_period_days: magnitude('Orbital period, in days.', { label: 'Orbital period', unit: 'days' }),
    semi_major_axis_au: magnitude('Semi-major axis of the orbit, in astronomical units.', {
      label: 'Semi-major axis',
      unit: 'au',
    }),
    equilibrium_temperature_kelvin: magnitude('Equilibrium temperature, in kelvin.', {
      label: 'Equilibrium temperature',
      unit: 'K',
    }),
    discovery_method: text('Discovery method, such as Transit or Radial Velocity.'),
    discovery_year: integer('Year of the discovery.'),
    habitable: boolean('Whether the planet could support known forms of life.'),
  },
  example: {
    name: 'Kepler-442b',
    host_star: 'Kepler-442',
    distance_parsecs: 366,
    radius_jupiters: 0.12,
    orbital_period_days: 112.3,
    discovery_method: 'Transit',
    discovery_year: 2015,
    habitable: true,
  },
})
