import { type PairingOffer, useHosts, useWorkflowClient } from '@callboard/react'
import { useMutation } from '@tanstack/react-query'
import { useState } from 'react'
import { Command } from '../parts/Command'
import { Dialog } from '../parts/Dialog'
import { Problem } from '../parts/Problem'
import { QrCode } from '../parts/QrCode'
import { useTold } from '../parts/useNow'
import { onOneLine } from '../parts/visible'
import { text } from './text'

/** The button that makes a code for another machine, and shows how to use it. */
export function PairHost() {
  const client = useWorkflowClient()
  const [isOpen, setOpen] = useState(false)
  const { mutate, data, isPending, error } = useMutation({
    // Relays talk to another machine only over HTTPS.
    mutationFn: () => client.createPairing(isSecure() ? { server: window.location.origin } : {}),
  })
  const open = () => {
    setOpen(true)
    mutate()
  }
  return (
    <>
      <button type="button" className="button" onClick={open}>
        {text.hosts.pair}
      </button>
      {isOpen && (
        <Dialog title={text.pairing.title} onClose={() => setOpen(false)}>
          {error && <Problem error={error} onRetry={() => mutate()} />}
          {isPending && <p className="quiet">{text.pairing.creating}</p>}
          {data && !isPending && <Offer key={data.code} offer={data} onAgain={() => mutate()} />}
          <div className="dialog__foot">
            <button type="button" className="button" onClick={() => setOpen(false)}>
              {text.pairing.done}
            </button>
          </div>
        </Dialog>
      )}
    </>
  )
}

function isSecure(): boolean {
  return window.location.protocol === 'https:'
}

interface OfferProps {
  readonly offer: PairingOffer
  readonly onAgain: () => void
}

function Offer({ offer, onAgain }: OfferProps) {
  const until = Date.parse(offer.expiresAt)
  const left = useTold((now) => Math.max(0, Math.ceil((until - now) / 1000)))
  const name = useNewHost()
  if (name !== null) {
    return (
      <p role="status">
        <strong>{text.pairing.paired(onOneLine(name))}</strong>
      </p>
    )
  }
  if (left === 0) {
    return (
      <div className="row" role="status">
        <span>{text.pairing.expired}</span>
        <button type="button" className="button button--lamp" onClick={onAgain}>
          {text.pairing.again}
        </button>
      </div>
    )
  }
  return (
    <>
      <p>{text.pairing.intro}</p>
      <p className="pairing__code mono">{offer.code}</p>
      <Command command={offer.command} />
      {!isSecure() && <p className="quiet">{text.pairing.local}</p>}
      <div className="pairing__qr">
        <QrCode rows={offer.qr} label={text.pairing.qr} />
        <p className="quiet">
          {text.pairing.qrHint}
          <br />
          {text.pairing.left(clock(left))}
        </p>
      </div>
    </>
  )
}

/** The machine that has connected since the code was shown. */
function useNewHost(): string | null {
  const { hosts } = useHosts()
  const connected = hosts.filter((host) => host.connected)
  const [before] = useState(() => new Set(connected.map((host) => host.id)))
  return connected.find((host) => !before.has(host.id))?.name ?? null
}

/** Seconds as on a kitchen timer: `4:07`. */
function clock(seconds: number): string {
  return `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
}
