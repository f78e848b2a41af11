interface Props {
  /** From the bottom to the top. */
  readonly values: ReadonlyArray<number>
  /** The colour of each. */
  readonly tones: ReadonlyArray<string>
  readonly most: number
  readonly x: number
  readonly width: number
}

/** One column of values on top of each other. */
export function Bar({ values, tones, most, x, width }: Props) {
  let top = 100
  return values.map((value, place) => {
    const height = (value / most) * 100
    top -= height
    if (height === 0) return null
    return (
      <rect
        key={tones[place]}
        className={`chart__bar chart__bar--${tones[place]}`}
        x={`${x}%`}
        width={`${width}%`}
        y={`${top}%`}
        height={`${height}%`}
        rx="1.5"
      />
    )
  })
}
