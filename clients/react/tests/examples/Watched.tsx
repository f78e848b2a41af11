import { useHumanInteractive } from '../../src/index'

/** What somebody else asked for, watched: the address says which session. */
export function Watched({ id }: { readonly id: string | null }) {
  const { status, data, error } = useHumanInteractive({ attachTo: id })
  const seen = {
    status,
    outcome: data?.outcome ?? null,
    response: data?.response ?? null,
    error: error?.message ?? data?.error ?? null,
  }
  return <output>{JSON.stringify(seen)}</output>
}
