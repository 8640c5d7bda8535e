package verify

import "context"

// Options control a check. A nil *Options is the zero value.
type Options struct {
	// NoEvents leaves out the event logs, which may be far larger than all else.
	NoEvents bool

	// Progress is called by [CheckAll] after each session. Nil is allowed.
	Progress func(done, total int)
}

// check is one check of a session.
type check struct {
	ctx     context.Context
	id      string
	dir     string
	opts    Options
	yield   func(Finding, error) bool
	stopped bool // the caller wants no more findings
	found   int
}

// over reports whether the check ends early.
func (c *check) over() bool { return c.stopped || c.ctx.Err() != nil }

// add yields a finding.
func (c *check) add(k Kind, file string, line int, err error) {
	if c.over() {
		return
	}
	c.found++
	c.stopped = !c.yield(Finding{Session: c.id, Kind: k, File: file, Line: line, Err: err}, nil)
}
