import { ago, whole } from './times'
import { useTold } from './useNow'

/** When something was, told from now; the exact time is a hover away. */
export function Ago({ moment }: { readonly moment: string }) {
  const told = useTold((now) => ago(Date.parse(moment), now))
  return (
    <time dateTime={moment} title={whole(moment)}>
      {told}
    </time>
  )
}
