import type { Member } from './members.ts'
import { PATRONI_PORT } from './members.ts'

/** What happens to the primary, and how it is undone. */
export interface Fault {
  begin(primary: Member): unknown
  end(primary: Member): unknown
}

export const FAULTS: Readonly<Record<string, Fault>> = {
  killed: {
    begin: ({ host }) => host.signal('SIGKILL'),
    end: (primary) => primary.start(),
  },
  frozen: {
    begin: ({ host }) => host.signal('SIGSTOP'),
    end: ({ host }) => host.signal('SIGCONT'),
  },
  partitioned: {
    begin: ({ host }) => host.setLink('down'),
    end: ({ host }) => host.setLink('up'),
  },
  switched: {
    begin: switchOver,
    end: () => {},
  },
}

async function switchOver({ name, host }: Member): Promise<void> {
  const response = await fetch(`http://${host.address}:${PATRONI_PORT}/switchover`, {
    method: 'POST',
    body: JSON.stringify({ leader: name }),
  })
  if (!response.ok) throw new Error(`Patroni refuses the switchover: ${await response.text()}`)
}
