interface Props {
  /** In percent of the height. */
  readonly at: number
  readonly says: string
}

/** A line across a chart that says what it is. */
export function Level({ at, says }: Props) {
  return (
    <g className="chart__level">
      <line x1="0" x2="100%" y1={`${100 - at}%`} y2={`${100 - at}%`} />
      <text x="4" y={`${100 - at}%`} dy="-4">
        {says}
      </text>
    </g>
  )
}
