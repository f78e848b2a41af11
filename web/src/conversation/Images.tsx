import type { ConversationItem } from '@callboard/react'
import { text } from './text'

/** Only these are shown: another type may be a document that does more than show itself. */
const SHOWN = /^image\/(?:png|jpeg|gif|webp)$/

/** The images of a message. */
export function Images({ images }: Pick<ConversationItem, 'images'>) {
  if (images.length === 0) return null
  return (
    <div className="message__images">
      {images.map(({ mediaType, data }, index) =>
        data && SHOWN.test(mediaType) ? (
          // biome-ignore lint/suspicious/noArrayIndexKey: the images of a message do not change
          <img key={index} src={`data:${mediaType};base64,${data}`} alt={text.image(index + 1)} />
        ) : (
          // biome-ignore lint/suspicious/noArrayIndexKey: as above
          <span key={index} className="passage__note">
            {text.imageLeftOut}
          </span>
        ),
      )}
    </div>
  )
}
