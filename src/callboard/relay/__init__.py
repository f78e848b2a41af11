"""Reports the coding agents of one machine to a server on another, and brings its decisions back.

It runs all day on machines that do something else, so nothing here imports a module that takes much
memory: only the standard library, and the parts of Callboard that need nothing else.
"""
