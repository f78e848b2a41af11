/** How many characters the server takes as a session's title. */
export const LONGEST_TITLE = 200
