const QUIET = 2

interface Props {
  /** Rows of squares, `1` for dark. */
  readonly rows: ReadonlyArray<string>
  readonly label: string
}

/** A QR code. It is black on white in every theme, because some cameras read no other. */
export function QrCode({ rows, label }: Props) {
  const size = rows.length + 2 * QUIET
  const squares = rows.flatMap((row, y) =>
    [...row].flatMap((square, x) => (square === '1' ? [`M${x} ${y}h1v1h-1z`] : [])),
  )
  return (
    <svg
      className="qrcode"
      viewBox={`${-QUIET} ${-QUIET} ${size} ${size}`}
      shapeRendering="crispEdges"
      role="img"
      aria-label={label}
    >
      <rect x={-QUIET} y={-QUIET} width={size} height={size} fill="#fff" />
      <path d={squares.join('')} fill="#000" />
    </svg>
  )
}
