// Viewer shows sessions in a browser, live, while other programs work on them.
//
//	go run ./examples/viewer [-dir DIR] [-addr ADDR] [-open] [-manifest NAME=PHASE,PHASE…]…
//
// DIR is a sessions directory or a directory of projects; without it the
// user's projects are shown. ADDR is on this machine alone; without it the
// address is a free port, which is printed. With -open the browser is started.
// A session can be resumed when the manifest it began with is given; the first
// one is that of sessions that name none.
//
// It changes nothing, and is made to be left running: prompts, events and long
// messages are read when they are looked at, and only then.
package main
