package sessionstore

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"strconv"
	"time"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Options are the settings of a store. The zero value, and nil, are the
// reference's behaviour, made durable.
type Options struct {
	Logger     *slog.Logger     // nil: silent
	Durability Durability       // zero: Durable
	Now        func() time.Time // nil: time.Now
	Workspace  string           // directory of the project, for the ownership lock and new sessions; "": each session's working_dir, and the working directory of the process
	Portable   bool             // write U+2028, U+2029 and U+0085 as escapes (the default is the reference's bytes)
	OnChange   func(Change)     // called after each acknowledged write, in order, must not block
	Observer   Observer         // nil: nobody is told what the store does

	// SingleWriter promises that no other process writes the sessions of the
	// directory, or runs one of them, while the store is open. The locks are taken
	// as ever. Where the file system has none, as some mounts of NFS, SMB and FUSE,
	// they then exclude the stores of this process alone; without the promise,
	// calls that write fail there.
	SingleWriter bool

	// CacheBytes is about how much memory the store takes for what it knows of
	// sessions from earlier calls: transcripts and metadata that were read or
	// written. What was used longest ago makes room. Zero is 64 MiB; with a
	// negative number, nothing is kept beyond the calls under way.
	//
	// A transcript that the store knows costs its new messages alone when it is
	// saved or appended to; one that it does not know is read before. A
	// transcript takes its bytes and some 70 more for each message. One that
	// does not fit in CacheBytes is read for each write. With zero, the one used
	// last of those is kept nevertheless, whatever its size.
	CacheBytes int64
}

// Durability is what a call that writes has made sure of when it returns nil.
// There are two levels, [Durable] and [Relaxed]. With both, readers meet whole
// files at every instant, and what was acknowledged survives a killed process.
type Durability int

const (
	// Durable is the default. The content of the files and their names are
	// synced before the call returns. After a power cut every reader finds what
	// was acknowledged, the Python tools too.
	Durable Durability = iota

	// Relaxed syncs nothing, as the Python store. What was acknowledged survives
	// a killed process. A power cut may take the calls of the last seconds: the
	// system writes names when it likes, on ext4 after some 5 s, on xfs and btrfs
	// after some 30 s. On Linux the system begins to write the content before a
	// file takes its name, and the call does not wait for it. So a file is empty
	// or incomplete after a power cut only if its name reached the disk while
	// its content was on the way. It is then recovered from the backup where
	// that is whole. On ext4, xfs and btrfs a power cut takes no more than it
	// takes from the Python store; on other systems it may leave more files empty.
	Relaxed
)

// Change is one acknowledged write.
type Change struct {
	ID   string
	File string // base name of the changed file; empty: the whole session
	Op   Op
}

// Op is what a [Change] did.
type Op int

const (
	Wrote Op = iota
	Removed
	Rescan // changes may have been missed: read everything again
)

// String returns "wrote", "removed" or "rescan".
func (op Op) String() string {
	switch op {
	case Wrote:
		return "wrote"
	case Removed:
		return "removed"
	case Rescan:
		return "rescan"
	}
	return "Op(" + strconv.Itoa(int(op)) + ")"
}

// String returns "durable" or "relaxed".
func (d Durability) String() string {
	switch d {
	case Durable:
		return "durable"
	case Relaxed:
		return "relaxed"
	}
	return "Durability(" + strconv.Itoa(int(d)) + ")"
}

// Observer is told what a store does, for traces and metrics. Its methods are
// called by whoever did it, by many goroutines at once; they must not block nor
// call the store. What it is told never holds content.
type Observer interface {
	// Called tells of a call that has ended. ctx is the caller's.
	Called(ctx context.Context, c Call)
	// Wrote tells that so many bytes were written to a file, and Synced that a
	// file or a directory was synced.
	Wrote(bytes int)
	Synced()
}

// Call is a call of a store that lists, reads or writes. Those of the packages
// that keep files beside a transcript have the Op "change".
type Call struct {
	Op        string // as in [Error]
	Session   string // empty when no one session is concerned
	Start     time.Time
	Recovered bool  // a backup was read in the place of a damaged file
	Err       error // what the call returned
}

// observing returns hooks, made to tell o what is written and synced.
func observing(hooks *seam.Seam, o Observer) *seam.Seam {
	if o == nil {
		return hooks
	}
	var s seam.Seam
	if hooks != nil {
		s = *hooks
	}
	then := s.After
	s.After = func(op seam.Op) {
		switch op.Kind {
		case seam.Write:
			o.Wrote(len(op.Data))
		case seam.Sync, seam.SyncDir:
			o.Synced()
		}
		if then != nil {
			then(op)
		}
	}
	return &s
}

// FormatJSON returns v as the Amplifier tools print JSON, byte for byte as
// Python's json.dumps(v, indent=indent) writes it: each level indented by so many
// spaces, or all in one line where indent is 0 or less, and what is not ASCII as
// \u escapes. There is no line break at the end.
//
// v is what encoding/json can encode, or a json.RawMessage in Python's dialect:
// what [Metadata.Lookup], [Message.Lookup] and AppendTo return. Of that, members
// keep their order, integers all of their digits, and NaN and infinities stay; of
// members with one name the last counts, at the place of the first.
//
// It fails when encoding/json cannot encode v, and when a json.RawMessage is not
// one JSON value. The error tells the place of a fault, and never content.
func FormatJSON(v any, indent int) ([]byte, error) {
	raw, ok := v.(json.RawMessage)
	if !ok || raw == nil {
		var err error
		if raw, err = pyjson.Encode(v); err != nil {
			return nil, fmt.Errorf("format JSON: %w", err)
		}
	}
	text, err := pyjson.Append(nil, raw, pyjson.Style{Indent: max(indent, 0), ASCII: true})
	if err != nil {
		return nil, fmt.Errorf("format JSON: %w", err)
	}
	return text, nil
}
