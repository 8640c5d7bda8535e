package thread

import (
	"iter"
	"strings"

	"github.com/zeebo/xxh3"

	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
)

// Flags describe a line.
type Flags uint32

const (
	IsUser Flags = 1 << iota
	IsAssistant
	IsLink      // another kind of line in the chain
	IsQueued    // an attachment that is a prompt, which was typed while the model worked
	IsSidechain // of a sub-agent
	IsSide      // of a team or written by the tool: the conversation does not end with it
	IsPerson    // a person wrote it
	IsPrompt    // a person wrote it, and it is no command
	IsRepeated  // a later line has its uuid
	HasResults
	HasChild
	isBlank
	isDamaged
	IsUnknown
	IsNote      // it has the model or the usage
	IsCompacted // the summary of a compaction, which comes after the last prompts; see expand
	IsSummary   // the summary of the messages that a compaction left out
	isCovered   // on a line that became a session
	onLine      // on the line that is being rendered
	IsSlash     // a person gave a command of the tool
	IsShell     // a person gave a command for the shell
	IsProgress  // it shows how the work goes: the line passes it by
	IsBoundary  // a compaction: the whole line goes on with the record key - 1, where there is one
	IsCopied    // a compaction took it along: the record that it repeats may be on the line before
	isPreserved // a compaction kept it word for word
	isGuessed   // the file does not have the parent that it names: its parent is the record before it
	IsThought   // a part of an answer that only thinks
	IsCall      // a part of an answer that only calls
	IsTakenBack // a prompt without an answer, on no line that became a session
	IsMistyped  // the tool's answer to a command that it does not know
	IsByTool    // an answer that the tool itself wrote: it is no response of a model

	IsUnfinished // an answer that the tool may still write
)

// Record is the part of a line, or of one of its records, that stays in memory: 32 bytes.
type Record struct {
	UUID   uint64 // a hash of the uuid, for Codex of the line; 0 where the record is not linked to others
	Key    uint64 // hash of the id of the response, or of the text of the prompt; of a compaction 1 more than the record that it hides
	Offset int64
	Parent int32 // index, -1 where there is none
	Flags  Flags
}

// Is reports whether a record has one of the flags.
func (r Record) Is(f Flags) bool { return r.Flags&f != 0 }

// talks reports whether a line is a prompt, a result or an answer, and the last
// one with its uuid.
func (r Record) talks() bool { return r.Is(IsUser|IsAssistant|IsQueued) && !r.Is(IsRepeated) }

// Scope is how far back a conversation goes.
type Scope uint8

const (
	// WholeLine goes on before each compaction with the messages that it hid, as far as the
	// file has them. A person sees these by scrolling up.
	WholeLine Scope = iota

	// ActiveLine begins with the last compaction: the line that the tool would resume.
	ActiveLine
)

// ScopeNames are the names in the map of an import.
var ScopeNames = [...]string{WholeLine: "whole", ActiveLine: "active"}

// Hash returns a hash that is never 0 for a text that is not empty.
func Hash(s string) uint64 {
	if s == "" {
		return 0
	}
	return max(1, xxh3.HashString(s))
}

// ID returns an id as the tools write it: whatever copies or moves files may change its case.
func ID(s string) string {
	if len(s) >= 7 && strings.Trim(s, "0123456789abcdefABCDEF-") == "" {
		return strings.ToLower(s)
	}
	return s
}

// Content returns a hash of a JSON value that does not depend on the order of keys, on spaces
// and on escapes.
func Content(raw []byte) uint64 { return content(raw, 32) }

func content(raw []byte, depth int) (sum uint64) {
	kind := pyjson.KindOf(raw)
	switch {
	case kind == pyjson.String:
		return Hash(pyjson.Text(raw))
	case kind == pyjson.Object && depth > 0:
		for m := range pyjson.Members(raw) {
			sum += xxh3.HashStringSeed(pyjson.Text(m.Key), content(m.Value, depth-1))
		}
		return sum + 1
	case kind == pyjson.Array && depth > 0:
		for v := range pyjson.Elements(raw) {
			sum = sum*0x9e3779b97f4a7c15 + content(v, depth-1)
		}
		return sum + 2
	}
	return xxh3.Hash(pyjson.TrimSpace(raw))
}

// Mark is the message that an exported line names.
type Mark struct{ At, Message int32 }

// maxSeal is how long a seal may be that an export wrote.
const maxSeal = 64

// pieces is a list that grows without copies of itself, so that it takes no more
// memory than it must.
type pieces[T any] struct {
	full [][]T
	last []T
}

// pieceSize is how many elements one piece has.
const pieceSize = 4096

func (p *pieces[T]) add(v T) {
	if len(p.last) == pieceSize {
		p.full, p.last = append(p.full, p.last), make([]T, 0, pieceSize)
	}
	p.last = append(p.last, v)
}

// Len returns how many elements there are.
func (p *pieces[T]) Len() int { return len(p.full)*pieceSize + len(p.last) }

// At returns an element. It is not to be used once an element was added.
func (p *pieces[T]) At(i int32) *T {
	if n := int(i) / pieceSize; n < len(p.full) {
		return &p.full[n][i%pieceSize]
	}
	return &p.last[i%pieceSize]
}

// All yields the elements by their indexes.
func (p *pieces[T]) All() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for i := range p.Len() {
			if !yield(i, p.At(int32(i))) {
				return
			}
		}
	}
}

// Newest returns the element that was added last, nil where there is none.
func (p *pieces[T]) Newest() *T {
	if len(p.last) == 0 {
		return nil
	}
	return &p.last[len(p.last)-1]
}

// take returns all elements, and leaves the list empty.
func (p *pieces[T]) take() []T {
	if len(p.full) == 0 {
		all := p.last
		p.last = nil
		return all
	}
	all := make([]T, 0, len(p.full)*pieceSize+len(p.last))
	for i, piece := range p.full {
		all, p.full[i] = append(all, piece...), nil
	}
	all = append(all, p.last...)
	*p = pieces[T]{}
	return all
}
