import { useId } from 'react'
import { CheckIcon } from '../parts/icons'
import { visible } from '../parts/visible'
import type { Interaction } from '../server/types'
import { text } from './text'
import { decisionsOf, missingOf } from './wanted'
import { wordsFor } from './words'

interface Props {
  readonly question: Interaction
  /** Who decides now. */
  readonly by: string | null
  readonly onChoose: (name: string) => void
}

/** Where several people decide: who has, what they decided, and who you are. */
export function Participants({ question, by, onChoose }: Props) {
  const decided = decisionsOf(question)
  const missing = missingOf(question)
  const name = useId()
  return (
    <div className="participants">
      <p>{text.decided(decided.length, decided.length + missing.length)}</p>
      {decided.length > 0 && (
        <ul>
          {decided.map(([person, decision]) => (
            <li key={person}>
              <CheckIcon /> <strong>{visible(person)}</strong> {wordsFor(decision)}
            </li>
          ))}
        </ul>
      )}
      <fieldset className="formgroup">
        <legend>{text.decideAs}</legend>
        {by === null && <span className="field__hint">{text.chooseName}</span>}
        <div className="formoptions formoptions--inline">
          {missing.map((person) => (
            <label key={person} className="asking__option">
              <input
                type="radio"
                name={name}
                checked={person === by}
                onChange={() => onChoose(person)}
              />
              <span className="grow">{visible(person)}</span>
            </label>
          ))}
        </div>
      </fieldset>
    </div>
  )
}
