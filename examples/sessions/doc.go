// Sessions lists, shows, mends and moves stored agent sessions. It does what
// the session commands of the Python tools do, with their flags, JSON and exit
// codes, and more:
//
//	go install -C examples/sessions .
//	sessions list
//	sessions --help
package main
