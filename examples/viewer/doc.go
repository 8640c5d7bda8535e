// Viewer shows sessions in a browser, live, while other programs work on them.
//
//	go run -C examples/viewer . [-dir DIR] [-addr ADDR] [-open] [-no-token] [-manifest NAME=PHASE,PHASE…]… [-write] [-resume COMMAND]
//
// DIR is a sessions directory or a directory of projects; without it the viewer
// shows the user's projects. ADDR must be on this machine; without it the viewer takes a
// free port and prints the address. With -open it starts the browser. Every user of a
// machine reaches its ports, so the printed address has a token: a browser that opens it
// gets a cookie and is let in, until the viewer ends. A request without either is
// refused. A page of another server on this machine, which the browser opens, gets the
// cookie too, as browsers do not tell ports apart: it lets its owner read until the
// viewer ends. With -no-token every user and program of the machine may read all
// sessions that are shown. A session can be resumed when the manifest it began with is
// given; a session that names no manifest uses the first one.
//
// With -write it takes phase outputs and messages of a workflow's conversation, and
// forks a session after a turn. With -resume a click on Resume starts a command.
// Both require the token itself, also with -no-token. A program sends it in the header
// X-Viewer-Token, with the viewer's address as Origin:
//
//	POST /api/p/PROJECT/s/SESSION/phases        {"phase_id": …, "status": "running", …}
//	POST /api/p/PROJECT/s/SESSION/conversation  {"role": "user", "content": …}
//	POST /api/p/PROJECT/s/SESSION/fork          {"turn": 3}
//	POST /api/p/PROJECT/s/SESSION/resume
//
// A failure is answered with {"error": text, "kind": word}. COMMAND is split at
// spaces and gets the id of the session as last argument, after a -- where the id
// begins with a hyphen; SESSION_ID, SESSION_DIR and NEXT_PHASE_ID are in its
// environment, and how the workflow goes on is JSON on its standard input. It runs
// until it ends or the viewer does.
//
// The actions of a session copy the line that resumes it in a terminal, by amplifier
// or by the program that AMPLIFIER_HOST names. They export it, with all that it
// holds or without the secrets that package redact finds:
//
//	GET /api/p/PROJECT/s/SESSION/export?format=FORMAT[&redact=1]
//
// FORMAT is md, html, jsonl or tar.
//
// A program that reads sends the token in that header, too: the page of a session is
//
//	GET /p/PROJECT/s/SESSION
//
// Without -write and -resume the viewer changes no session; the indexes that the library
// keeps beside the sessions may grow. It can be left running: it reads prompts, events and
// long messages only when a page asks for them.
package main
