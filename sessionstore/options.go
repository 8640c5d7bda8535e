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
	Observer   Observer         // nil: no calls are reported

	// SingleWriter promises that no other process writes the sessions of the directory,
	// or runs one of them, while the store is open. The locks are taken as ever. Where
	// the file system has no locks, as on some mounts of NFS, SMB and FUSE, they then
	// exclude only the stores of this process; without the promise, calls that write fail
	// there.
	SingleWriter bool

	// CacheBytes is about how much memory the store takes for transcripts and metadata
	// that earlier calls read or wrote. The least recently used ones make room. Zero is
	// 64 MiB; with a negative number, nothing is kept beyond the calls under way.
	//
	// A cached transcript costs its new messages alone when it is saved or appended to;
	// another transcript is read before. A transcript takes its bytes and some 70 more
	// for each message. A transcript that does not fit in CacheBytes is read for each
	// write. With zero, the last used one of these large transcripts is kept
	// nevertheless, whatever its size.
	CacheBytes int64
}

// Durability is the guarantee of a call that writes when it returns nil. There are two
// levels, [Durable] and [Relaxed]. With both, readers meet whole files at every instant,
// and acknowledged writes survive a killed process.
type Durability int

const (
	// Durable is the default. The content of the files and their names are synced before
	// the call returns. After a power cut every reader finds the acknowledged writes, the
	// Python tools too.
	Durable Durability = iota

	// Relaxed syncs nothing, like the Python store. Acknowledged writes survive a killed
	// process. A power cut may take the calls of the last seconds: the system writes
	// names at its own time, on ext4 after some 5 s, on xfs and btrfs after some 30 s. On
	// Linux the system begins to write the content before a file takes its name, and the
	// call does not wait for it. So a file is empty or incomplete after a power cut only
	// if its name reached the disk while its content was on the way. It is then recovered
	// from the backup if the backup is whole. On ext4, xfs and btrfs a power cut takes no
	// more than it takes from the Python store; on other systems it may leave more files
	// empty.
	Relaxed
)

// Change is one acknowledged write.
type Change struct {
	ID   string
	File string // base name of the changed file; empty: the whole session
	Op   Op
}

// Op is the kind of a [Change].
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

// Observer receives reports of the calls, writes and syncs of a store, for traces and
// metrics. Its methods are called in the goroutine of the reported action, by many
// goroutines at once; they must not block nor call the store. Their arguments never hold
// content.
type Observer interface {
	// Called reports a call that has ended. ctx is the context of the caller.
	Called(ctx context.Context, c Call)
	// Wrote reports that so many bytes were written to a file, and Synced that a file or
	// a directory was synced.
	Wrote(bytes int)
	Synced()
}

// Call is a call of a store that lists, reads or writes. Calls of the packages that keep
// files beside a transcript have the Op "change".
type Call struct {
	Op        string // as in [Error]
	Session   string // empty when no one session is concerned
	Start     time.Time
	Recovered bool  // a backup was read in the place of a damaged file
	Err       error // the error of the call
}

// observing returns hooks, extended to report writes and syncs to o.
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

// FormatJSON returns v as the Amplifier tools print JSON, byte for byte as Python's
// json.dumps(v, indent=indent) writes it: each level indented by so many spaces, or
// everything in one line where indent is 0 or less, and characters outside ASCII as \u
// escapes. There is no line break at the end.
//
// v is a value that encoding/json can encode, or a json.RawMessage in Python's dialect,
// such as [Metadata.Lookup], [Message.Lookup] and AppendTo return. In a json.RawMessage,
// members keep their order, integers all of their digits, and NaN and infinities stay; of
// members with one name the last counts, at the place of the first.
//
// It fails when encoding/json cannot encode v, and when a json.RawMessage is not one JSON
// value. The error names the place of a fault, and never holds content.
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
