import { useBoard, useInbox } from '@callboard/react'
import { type ReactNode, useEffect, useState } from 'react'
import { Outbox } from '../outbox/Outbox'
import { CommandPalette } from '../palette/CommandPalette'
import { MODIFIER, usePalette } from '../palette/usePalette'
import { DarkIcon, HelpIcon, LightIcon, SearchIcon } from '../parts/icons'
import { KeyHint } from '../parts/KeyHint'
import { Toasts } from '../parts/Toasts'
import { Link } from '../router/Link'
import { navigate } from '../router/navigation'
import { type Route, to } from '../router/route'
import { ConnectionBanner } from './ConnectionBanner'
import { KEYS } from './keys'
import { PLACES, type Place } from './places'
import { ShortcutHelp } from './ShortcutHelp'
import { listen, useShortcut } from './shortcuts'
import { text } from './text'
import { useNotifications } from './useNotifications'
import { useTheme } from './useTheme'
import { useTitle } from './useTitle'

interface Props {
  readonly route: Route
  readonly children: ReactNode
}

/** What stands around every page. */
export function Shell({ route, children }: Props) {
  const { interactions: questions, isLoading } = useInbox()
  const { needy } = useBoard()
  const [helping, setHelping] = useState(false)
  const palette = usePalette()
  const { theme, toggle } = useTheme()
  useEffect(listen, [])
  useTitle(route, questions.length)
  useNotifications(questions, isLoading)
  useShortcut(text.everywhere, KEYS.help, text.keys.list, () => setHelping(true))
  useShortcut(text.everywhere, KEYS.theme, text.keys.theme, toggle)
  useShortcut(text.everywhere, 's', text.keys.start, () => navigate(`${to.sessions()}?start=1`))
  return (
    <div className="shell">
      <a className="skip" href="#content">
        {text.skip}
      </a>
      <header className="rail">
        <Link className="brand" to={to.home()}>
          <Mark />
          {text.brand}
        </Link>
        <Navigation route={route} waiting={questions.length} needy={needy.length} />
        <div className="rail__foot">
          <button type="button" onClick={palette.open}>
            <SearchIcon /> {text.menu} <KeyHint>{MODIFIER} K</KeyHint>
          </button>
          <button type="button" onClick={toggle}>
            {theme === 'dark' ? <LightIcon /> : <DarkIcon />}
            {theme === 'dark' ? text.light : text.dark}
          </button>
          <button type="button" className="rail__wide" onClick={() => setHelping(true)}>
            <HelpIcon /> {text.help.short} <KeyHint>{KEYS.help}</KeyHint>
          </button>
        </div>
      </header>
      <main className="main skip-target" id="content" tabIndex={-1}>
        <ConnectionBanner />
        {children}
      </main>
      <Outbox />
      <Toasts />
      {helping && <ShortcutHelp onClose={() => setHelping(false)} />}
      {palette.actions && <CommandPalette actions={palette.actions} onClose={palette.close} />}
    </div>
  )
}

interface NavigationProps {
  readonly route: Route
  readonly waiting: number
  readonly needy: number
}

function Navigation({ route, ...counts }: NavigationProps) {
  return (
    <nav aria-label={text.navigation}>
      <ul>
        {PLACES.map((place) => (
          <NavigationItem
            key={place.path}
            place={place}
            isCurrent={place.pages.includes(route.page)}
            count={place.counts ? counts[place.counts] : 0}
          />
        ))}
      </ul>
    </nav>
  )
}

interface ItemProps {
  readonly place: Place
  readonly isCurrent: boolean
  readonly count: number
}

function NavigationItem({ place, isCurrent, count }: ItemProps) {
  const { name, path, keys, does, Icon, counts, isMinor } = place
  useShortcut(text.everywhere, keys, does, () => navigate(path))
  return (
    <li className={isMinor && 'rail__wide'}>
      <Link to={path} aria-current={isCurrent ? 'page' : undefined}>
        <Icon /> {name}
        {counts && <Count of={count} what={text[counts]} />}
      </Link>
    </li>
  )
}

function Count({ of, what }: { readonly of: number; readonly what: string }) {
  if (of === 0) return null
  return (
    <span className="count">
      {of > 999 ? '999+' : of}
      <span className="hidden"> {what}</span>
    </span>
  )
}

/** A notice on a board, and the lamp over it. */
function Mark() {
  return (
    <svg viewBox="0 0 32 32" aria-hidden="true">
      <rect width="32" height="32" rx="8" fill="#1b2233" />
      <rect x="7" y="8" width="18" height="17" rx="2" fill="#e9edf6" />
      <path d="M11 14h10M11 18h7" stroke="#1b2233" strokeWidth="2" strokeLinecap="round" />
      <circle cx="16" cy="8" r="3.6" fill="#ffb938" stroke="#1b2233" strokeWidth="1.6" />
    </svg>
  )
}
