import test from 'ava'
import { makeDomain, serveDomain } from '../helpers/domain/made-domain.ts'
import { openPage } from '../helpers/service/browser.ts'

test('a form has a control for each kind that holds numbers, lists or JSON, and keeps their values', async (t) => {
  const page = await openPage(t)
  if (!page) return t.pass()
  const service = await serveDomain(t, await makeDomain(t, 'workshop'))
  const { writer, base } = service
  const form = page.locator('form.template')
  await page.goto(`${base}/measurements`)
  await page.getByLabel('Access token').fill(writer.authorization?.replace('Bearer ', '') ?? '')
  await page.getByRole('button', { name: 'Use token' }).click()
  await page.getByRole('button', { name: 'Create a measurement' }).click()
  for (const name of ['samples', 'notes', 'remarks', 'shares'])
    await form.locator(`textarea#field-${name}`).waitFor()
  t.is(await form.getByLabel('Repetitions').getAttribute('inputmode'), 'decimal')
  await form.getByLabel('Length').fill('1.5')
  await form.getByLabel('Repetitions').fill('3')
  await form.getByLabel('Price').fill('12.50')
  await form.getByLabel('Shares').fill('gas: 0.5\n"a: b": 0.25')
  await form.getByLabel('Samples').fill('1\ntwo')
  await form.getByLabel('Remarks').fill('{"a": ')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.locator('#field-remarks-problem').getByText('must be JSON').waitFor()
  await page.locator('#field-samples-problem').getByText('Each line is a number.').waitFor()
  await form.getByLabel('Samples').fill('1\n\n 2.5')
  await form.getByLabel('Remarks').fill('{"a": [1, true, "x"]}')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  await page.getByRole('button', { name: 'Edit' }).waitFor()
  const path = new URL(page.url()).pathname.replace(new URL(base).pathname, '')
  const values = {
    length: 1.5,
    repetitions: 3,
    price: '12.50',
    shares: { gas: 0.5, 'a: b': 0.25 },
    samples: [1, 2.5],
    remarks: { a: [1, true, 'x'] },
  }
  t.like((await writer.get(path)).body, values)

  await page.getByRole('button', { name: 'Edit' }).click()
  t.is(await form.getByLabel('Shares').inputValue(), 'gas: 0.5\na: b: 0.25')
  t.deepEqual(JSON.parse(await form.getByLabel('Remarks').inputValue()), values.remarks)
  await form.getByLabel('Samples').fill('')
  // Blanks are nothing, too.
  await form.getByLabel('Remarks').fill(' \n')
  await form.getByLabel('Shares').fill(' ')
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await form.waitFor({ state: 'detached' })
  const { samples, remarks, shares, ...others } = values
  const { body } = await writer.get(path)
  t.like(body, others)
  t.like(body, { samples: undefined, remarks: undefined, shares: undefined })
})

test('lists have an item on each line, or check boxes; objects are groups of fields; initial values are shown', async (t) => {
  const page = await openPage(t)
  if (!page) return t.pass()
  const { writer, base } = await serveDomain(t, await makeDomain(t, 'workshop'))
  const form = page.locator('form.template')
  const token = writer.authorization?.replace('Bearer ', '')
  await page.addInitScript(`sessionStorage.setItem('halgraph.token', ${JSON.stringify(token)})`)
  await page.goto(`${base}/measurements`)
  await page.getByRole('button', { name: 'Create the first measurement' }).click()
  t.is(await form.getByLabel('Quality').inputValue(), 'rough')
  await form.getByLabel('Notes').fill('First, with a comma\n"second"\n" third\\nin two lines"')
  const methods = form.getByRole('group', { name: 'Methods' })
  await methods.getByLabel('Laser beam').check()
  await methods.getByLabel('scale').check()
  await methods.getByLabel('Laser beam').uncheck()
  const place = form.getByRole('group', { name: 'Place' })
  await place.getByLabel('Room').fill('Attic')
  await place.getByLabel('Floor').fill('-1')
  const sent = page.waitForRequest((request) => request.method() === 'POST')
  await page.getByRole('button', { name: 'Create', exact: true }).click()
  t.is((await sent).postDataJSON().quality, 'rough')
  await page.getByRole('button', { name: 'Edit' }).click()
  const path = new URL(page.url()).pathname.replace(new URL(base).pathname, '')
  const values = {
    notes: ['First, with a comma', 'second', ' third\nin two lines'],
    methods: ['scale'],
    quality: 'rough',
    place: { room: 'Attic', floor: -1 },
  }
  t.like((await writer.get(path)).body, values)

  // What is not changed is not sent, and what others have changed meanwhile stays.
  const changed = { notes: [' kept '], place: { room: 'Cellar', floor: -1 } }
  await writer.patch(path, changed)
  await page.reload()
  await page.getByRole('button', { name: 'Edit' }).click()
  t.is(await form.getByLabel('Notes').inputValue(), '" kept "')
  await methods.getByLabel('Laser beam').check()
  await page.getByRole('button', { name: 'Save', exact: true }).click()
  await form.waitFor({ state: 'detached' })
  t.like((await writer.get(path)).body, { ...changed, methods: ['scale', 'laser'] })
})
