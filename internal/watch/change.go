package watch

// Change is something that happened to a session.
type Change struct {
	ID   string
	File string // base name of the changed file; empty: the whole session
	Op   Op
}

// Op is what a [Change] did.
type Op int

// What may happen. The numbers are those of package sessionstore.
const (
	Wrote Op = iota
	Removed
	Rescan // changes may have been missed: read everything again
)
