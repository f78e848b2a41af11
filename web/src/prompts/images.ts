/** A prompt with a short name in place of each attached image, and the images by that name. */
export interface Attached {
  readonly text: string
  readonly images: ReadonlyMap<string, string>
}

/** In characters, as base64: about 750 kB. A larger image is named and not shown. */
export const LARGEST_IMAGE = 1_000_000

const IMAGE = /data:image\/(?:png|jpeg|gif|webp);base64,[A-Za-z0-9+/]+={0,2}/g

/** Take the images out, so that no one has to parse megabytes, and a plain text stays readable. */
export function attachedOf(prompt: string): Attached {
  const images = new Map<string, string>()
  const text = prompt.replace(IMAGE, (address) => {
    const name = `attached:${images.size + 1}`
    images.set(name, address.length <= LARGEST_IMAGE ? address : '')
    return name
  })
  return { text, images }
}
