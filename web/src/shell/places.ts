import type { ComponentType } from 'react'
import {
  BoardIcon,
  HomeIcon,
  InboxIcon,
  PeopleIcon,
  SessionsIcon,
  SettingsIcon,
  UsageIcon,
  WorkersIcon,
  WorkflowsIcon,
} from '../parts/icons'
import { type Route, to } from '../router/route'
import { text } from './text'

/** A page that people go to: the navigation, its key and the palette come from this. */
export interface Place {
  readonly name: string
  readonly path: string
  /** The keys that lead there, and what the list of keys says about them. */
  readonly keys: string
  readonly does: string
  readonly Icon: ComponentType
  /** The routes that belong here, so that the navigation shows where one is. */
  readonly pages: ReadonlyArray<Route['page']>
  /** What is counted beside the name. */
  readonly counts?: 'waiting' | 'needy'
  /** Left out where there is no room; the settings lead there too. */
  readonly isMinor?: true
}

export const PLACES: ReadonlyArray<Place> = [
  {
    name: text.pages.home,
    path: to.home(),
    keys: 'g h',
    does: text.keys.home,
    Icon: HomeIcon,
    pages: ['home'],
  },
  {
    name: text.pages.inbox,
    path: to.inbox(),
    keys: 'g i',
    does: text.keys.inbox,
    Icon: InboxIcon,
    pages: ['inbox'],
    counts: 'waiting',
  },
  {
    name: text.pages.sessions,
    path: to.sessions(),
    keys: 'g s',
    does: text.keys.sessions,
    Icon: SessionsIcon,
    pages: ['sessions', 'session', 'family', 'compare'],
  },
  {
    name: text.pages.workflows,
    path: to.workflows(),
    keys: 'g w',
    does: text.keys.workflows,
    Icon: WorkflowsIcon,
    pages: ['workflows', 'workflow'],
  },
  {
    name: text.pages.board,
    path: to.board(),
    keys: 'g b',
    does: text.keys.board,
    Icon: BoardIcon,
    pages: ['board', 'plate'],
    counts: 'needy',
  },
  {
    name: text.pages.usage,
    path: to.usage(),
    keys: 'g u',
    does: text.keys.usage,
    Icon: UsageIcon,
    pages: ['usage'],
    isMinor: true,
  },
  {
    name: text.pages.workers,
    path: to.workers(),
    keys: 'g k',
    does: text.keys.workers,
    Icon: WorkersIcon,
    pages: ['workers'],
    isMinor: true,
  },
  {
    name: text.pages.people,
    path: to.people(),
    keys: 'g p',
    does: text.keys.people,
    Icon: PeopleIcon,
    pages: ['people'],
    isMinor: true,
  },
  {
    name: text.pages.settings,
    path: to.settings(),
    keys: 'g ,',
    does: text.keys.settings,
    Icon: SettingsIcon,
    pages: ['settings'],
  },
]
