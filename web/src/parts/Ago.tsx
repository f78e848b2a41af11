import { ago, whole } from './times'
import { useNow } from './useNow'

/** When something was, told from now; the exact time is a hover away. */
export function Ago({ moment }: { readonly moment: string }) {
  const now = useNow()
  return (
    <time dateTime={moment} title={whole(moment)}>
      {ago(Date.parse(moment), now)}
    </time>
  )
}
