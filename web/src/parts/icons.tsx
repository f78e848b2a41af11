import type { ReactNode } from 'react'

/** A drawing in a box of 16 by 16, in the colour of the text around it. */
function drawing(name: string, children: ReactNode) {
  const Icon = () => (
    <svg
      className="icon"
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      strokeWidth="1.5"
      strokeLinecap="round"
      strokeLinejoin="round"
      aria-hidden="true"
    >
      {children}
    </svg>
  )
  Icon.displayName = name
  return Icon
}

export const HomeIcon = drawing(
  'HomeIcon',
  <>
    <path d="M2.5 7.2 8 2.5l5.5 4.7v5.3a1 1 0 0 1-1 1h-9a1 1 0 0 1-1-1z" />
    <path d="M6.3 13.5V9.3h3.4v4.2" />
  </>,
)
export const WorkflowsIcon = drawing(
  'WorkflowsIcon',
  <>
    <rect x="2" y="2.5" width="4" height="4" rx="1" />
    <rect x="10" y="9.5" width="4" height="4" rx="1" />
    <path d="M6 4.5h3.5a2.5 2.5 0 0 1 2.5 2.5v2.5" />
  </>,
)
export const UnreachableIcon = drawing(
  'UnreachableIcon',
  <>
    <path d="M2 6.2a9 9 0 0 1 4-2.1M14 6.2a9 9 0 0 0-4.6-2.3M4.4 9.1a5.6 5.6 0 0 1 2.4-1.4M11.6 9.1a5.6 5.6 0 0 0-1-.7" />
    <path d="M8 12.2v.1M3 2.5l10 11" />
  </>,
)
export const HostIcon = drawing(
  'HostIcon',
  <>
    <rect x="2" y="3" width="12" height="8" rx="1" />
    <path d="M5.5 13.5h5" />
  </>,
)
export const UsageIcon = drawing(
  'UsageIcon',
  <>
    <path d="M2 13.5h12" />
    <path d="M4 11V8.5M8 11V3M12 11V6" strokeWidth="2" />
  </>,
)
export const WorkersIcon = drawing(
  'WorkersIcon',
  <>
    <rect x="2" y="2.5" width="12" height="4.5" rx="1" />
    <rect x="2" y="9" width="12" height="4.5" rx="1" />
    <path d="M4.6 4.75h.01M4.6 11.25h.01" strokeWidth="2" />
  </>,
)
export const InboxIcon = drawing(
  'InboxIcon',
  <>
    <path d="M2 9.5 3.6 3.4A1.2 1.2 0 0 1 4.8 2.5h6.4a1.2 1.2 0 0 1 1.2.9L14 9.5v3a1 1 0 0 1-1 1H3a1 1 0 0 1-1-1z" />
    <path d="M2 9.5h3.4l.8 1.7h3.6l.8-1.7H14" />
  </>,
)
export const SessionsIcon = drawing(
  'SessionsIcon',
  <>
    <path d="M5.5 4H14M5.5 8H14M5.5 12H14" />
    <path d="M2.2 4h.01M2.2 8h.01M2.2 12h.01" strokeWidth="2" />
  </>,
)
export const SettingsIcon = drawing(
  'SettingsIcon',
  <>
    <path d="M2 4.5h6M11.5 4.5H14M2 11.5h2.5M8 11.5h6" />
    <circle cx="9.75" cy="4.5" r="1.75" />
    <circle cx="6.25" cy="11.5" r="1.75" />
  </>,
)
export const BoardIcon = drawing(
  'BoardIcon',
  <>
    <rect x="2" y="3" width="12" height="10.5" rx="1" />
    <path d="M5 6.5h3v3H5zM10.5 6.5v4" />
  </>,
)
export const LightIcon = drawing(
  'LightIcon',
  <>
    <circle cx="8" cy="8" r="2.8" />
    <path d="M8 1.5v1.3M8 13.2v1.3M1.5 8h1.3M13.2 8h1.3M3.4 3.4l.9.9M11.7 11.7l.9.9M12.6 3.4l-.9.9M4.3 11.7l-.9.9" />
  </>,
)
export const DarkIcon = drawing(
  'DarkIcon',
  <path d="M13 9.8A5.6 5.6 0 0 1 6.2 3a5.6 5.6 0 1 0 6.8 6.8z" />,
)
export const BellIcon = drawing(
  'BellIcon',
  <>
    <path d="M4 11V7a4 4 0 0 1 8 0v4l1.2 1.5H2.8z" />
    <path d="M6.8 14.3h2.4" />
  </>,
)
export const HelpIcon = drawing(
  'HelpIcon',
  <>
    <circle cx="8" cy="8" r="6" />
    <path d="M6.2 6.3a1.8 1.8 0 1 1 2.5 1.7c-.5.2-.7.5-.7 1M8 11.4h.01" />
  </>,
)
export const ForkIcon = drawing(
  'ForkIcon',
  <>
    <circle cx="4" cy="3.5" r="1.5" />
    <circle cx="12" cy="3.5" r="1.5" />
    <circle cx="4" cy="12.5" r="1.5" />
    <path d="M4 5v6M12 5c0 3-3 3.5-8 4" />
  </>,
)
export const RetryIcon = drawing(
  'RetryIcon',
  <path d="M13 3.2v3.3H9.7M12.7 6.3A5.2 5.2 0 1 0 13.2 8.6" />,
)
export const PauseIcon = drawing('PauseIcon', <path d="M5.5 3.5v9M10.5 3.5v9" strokeWidth="2" />)
export const PlayIcon = drawing('PlayIcon', <path d="M5 3.2v9.6L12.5 8z" />)
export const StopIcon = drawing('StopIcon', <path d="m4 4 8 8M12 4l-8 8" />)
export const PlusIcon = drawing('PlusIcon', <path d="M8 3v10M3 8h10" />)
export const CheckIcon = drawing('CheckIcon', <path d="m3 8.5 3.2 3.2L13 4.8" />)
export const BackIcon = drawing('BackIcon', <path d="M10 3.5 5.5 8l4.5 4.5" />)
export const PersonIcon = drawing(
  'PersonIcon',
  <>
    <circle cx="8" cy="5.2" r="2.4" />
    <path d="M3.2 13.5a4.8 4.8 0 0 1 9.6 0" />
  </>,
)
export const PeopleIcon = drawing(
  'PeopleIcon',
  <>
    <circle cx="6" cy="5.2" r="2.4" />
    <path d="M1.5 13.5a4.5 4.5 0 0 1 9 0" />
    <path d="M10.6 3.1a2.4 2.4 0 0 1 0 4.2M12.3 9.6a4.5 4.5 0 0 1 2.2 3.9" />
  </>,
)
export const PinIcon = drawing(
  'PinIcon',
  <path d="M9.5 2 14 6.5l-1.4.4-2.3 2.3.2 2.6-1 1L3.2 6.5l1-1 2.6.2 2.3-2.3zM6 10l-3.5 3.5" />,
)
export const PenIcon = drawing(
  'PenIcon',
  <path d="M11.2 2.6 13.4 4.8 5.6 12.6 2.6 13.4 3.4 10.4zM9.6 4.2l2.2 2.2" />,
)
export const EyeIcon = drawing(
  'EyeIcon',
  <>
    <path d="M1.5 8S4 3.8 8 3.8 14.5 8 14.5 8 12 12.2 8 12.2 1.5 8 1.5 8z" />
    <circle cx="8" cy="8" r="1.8" />
  </>,
)
export const BranchIcon = drawing(
  'BranchIcon',
  <>
    <circle cx="4.5" cy="3.5" r="1.5" />
    <circle cx="4.5" cy="12.5" r="1.5" />
    <circle cx="11.5" cy="5.5" r="1.5" />
    <path d="M4.5 5v6M11.5 7c0 2.5-3 2.5-7 3" />
  </>,
)
export const SearchIcon = drawing(
  'SearchIcon',
  <>
    <circle cx="7" cy="7" r="4.2" />
    <path d="m10.2 10.2 3.3 3.3" />
  </>,
)
export const PencilIcon = drawing(
  'PencilIcon',
  <path d="M10.5 3.2l2.3 2.3-7 7-2.9.6.6-2.9zM9.2 4.5l2.3 2.3" />,
)
export const ChevronIcon = drawing('ChevronIcon', <path d="m6 3.5 4.5 4.5L6 12.5" />)
export const CopyIcon = drawing(
  'CopyIcon',
  <>
    <rect x="5.5" y="5.5" width="8" height="8" rx="1.2" />
    <path d="M10.5 5.5v-2a1 1 0 0 0-1-1h-6a1 1 0 0 0-1 1v6a1 1 0 0 0 1 1h2" />
  </>,
)
export const LinkIcon = drawing(
  'LinkIcon',
  <path d="M6.7 9.3a2.6 2.6 0 0 0 3.7 0l2.2-2.2a2.6 2.6 0 0 0-3.7-3.7l-.8.8M9.3 6.7a2.6 2.6 0 0 0-3.7 0L3.4 8.9a2.6 2.6 0 0 0 3.7 3.7l.8-.8" />,
)
export const ArrowDownIcon = drawing(
  'ArrowDownIcon',
  <>
    <path d="M8 3v9.5" />
    <path d="m4 8.7 4 4 4-4" />
  </>,
)
export const ArrowUpIcon = drawing(
  'ArrowUpIcon',
  <>
    <path d="M8 13V3.5" />
    <path d="m4 7.3 4-4 4 4" />
  </>,
)
