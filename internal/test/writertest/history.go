package writertest

import (
	"os"
	"path/filepath"
	"sync"
	"time"
)

// Side is one of the two writers.
type Side uint8

const (
	Ours   Side = iota // the store; in a control, the second old tool
	Theirs             // the old tool, after whose saves both files are looked at
)

// A Call is one call of a writer, which adds one row.
type Call struct {
	Side  Side
	Kind  string
	Row   string
	Begin time.Time // before it looked at the transcript
	// Theirs: after its load, before the first step of its save; and just
	// before its rename.
	Save, Rename time.Time
	End          time.Time // when it was acknowledged; zero: never
	void         bool      // an attempt that says it changed nothing, and ended then
}

// A Read is the result of one reader.
type Read struct {
	Reader     string
	Begin, End time.Time
	Rows       []string
	Main       State
	Err        error
}

// A look is the content of both files after a save, while no call was under way.
type look struct {
	save  *Call
	at    time.Time
	main  map[string]bool // nil: missing or torn
	other map[string]bool // of the backup
}

// A History records the calls of writers and readers of one session. Calls of Ours come one
// at a time, and so do calls of Theirs.
type History struct {
	Dir   string // the session's directory
	First string // the row that is there from the beginning
	gate  sync.RWMutex
	mu    sync.Mutex // guards the rest
	calls []*Call
	reads []Read
	looks []look
}

// Ours runs do, a call of that kind that adds row. It waits while the files
// are looked at.
func (h *History) Ours(kind, row string, do func(*Call) error) error {
	h.gate.RLock()
	defer h.gate.RUnlock()
	return h.call(&Call{Side: Ours, Kind: kind, Row: row}, do)
}

// Theirs lets tool load, add row, and save. Then no call of Ours may write until both files
// were looked at.
func (h *History) Theirs(tool Tool, row string) error {
	c := &Call{Side: Theirs, Kind: "save of the tool", Row: row}
	if err := h.call(c, func(c *Call) error { return h.Turn(tool, c) }); err != nil {
		return err
	}
	h.look(c)
	return nil
}

// Turn lets tool load, add the row of c, and save.
func (h *History) Turn(tool Tool, c *Call) error {
	rows, err := h.Load("load of a tool that saves", tool)
	if err != nil {
		return err
	}
	save := time.Now()
	renamed, err := tool.Save(Transcript, Content(append(rows, c.Row)))
	h.mu.Lock()
	defer h.mu.Unlock()
	c.Save, c.Rename = save, renamed
	return err
}

// Load lets tool load, and records the result.
func (h *History) Load(reader string, tool Tool) ([]string, error) {
	begin := time.Now()
	l, err := tool.Load()
	h.Met(Read{Reader: reader, Begin: begin, End: time.Now(), Rows: l.Rows, Main: l.Main, Err: err})
	return l.Rows, err
}

// Met records the result of a reader.
func (h *History) Met(r Read) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.reads = append(h.reads, r)
}

// Again notes that c begins anew: its attempt until now says that it changed
// nothing.
func (h *History) Again(c *Call) {
	h.mu.Lock()
	defer h.mu.Unlock()
	attempt := *c
	attempt.End, attempt.void = time.Now(), true
	h.calls = append(h.calls, &attempt)
	c.Begin = attempt.End
}

func (h *History) call(c *Call, do func(*Call) error) error {
	h.mu.Lock()
	c.Begin = time.Now()
	h.calls = append(h.calls, c)
	h.mu.Unlock()
	if err := do(c); err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	c.End = time.Now()
	return nil
}

// look reads both files while no call of Ours is under way.
func (h *History) look(save *Call) {
	h.gate.Lock()
	defer h.gate.Unlock()
	l := look{save: save, main: rowsOf(h.Dir, Transcript), other: rowsOf(h.Dir, TranscriptBackup), at: time.Now()}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.looks = append(h.looks, l)
}

// Last looks at both files when all writers have ended.
func (h *History) Last() { h.look(nil) }

// rowsOf returns the rows of a file as a set; nil when it is missing or torn.
func rowsOf(dir, name string) map[string]bool {
	data, err := os.ReadFile(filepath.Join(dir, name))
	if err != nil {
		return nil
	}
	rows, ok := Parse(data)
	if !ok {
		return nil
	}
	set := make(map[string]bool, len(rows))
	for _, row := range rows {
		set[row] = true
	}
	return set
}
