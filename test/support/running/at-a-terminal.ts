/** The beginning of a command line that runs a program in a new terminal. */
export const AT_A_TERMINAL = [
  ...['python3', '-c'],
  'import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))',
]
