import { cleanup, configure } from '@testing-library/react'
import { afterEach } from 'vitest'

// A machine that is busy with other tests may take its time; whoever waits goes on at once.
configure({ asyncUtilTimeout: 60_000 })

afterEach(cleanup)
