package workflow

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/format/jsonl"
	"github.com/amplifier-go/sessionstorage/internal/format/pyjson"
	"github.com/amplifier-go/sessionstorage/internal/format/pytime"
	"github.com/amplifier-go/sessionstorage/internal/store/cache"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// The logs of a session.
const (
	phaseFile        = "phase_outputs.jsonl"
	conversationFile = "session_conversation.jsonl"
)

var errNoRecord = errors.New("not a record")

// notRecord is the damage of a line.
func notRecord(path string, line jsonl.Line) error {
	return &sessionstore.CorruptError{Path: path, Line: line.Number, Offset: line.Offset, Err: errNoRecord}
}

// ids are the ids of a log: no record up to now has one above last, and no damaged line had.
type ids struct{ last int64 }

// of returns the id of the next record. A record without an id, which other tools may
// write, gets the next.
func (i *ids) of(id int64) int64 {
	if id <= 0 {
		i.skip()
		return i.last
	}
	i.last = max(i.last, id)
	return id
}

// skip takes the next id for a line that may have had it.
func (i *ids) skip() {
	if i.last < math.MaxInt64 {
		i.last++
	}
}

var errNoID = errors.New("no id is left")

// next returns an id that no record ever had.
func (i *ids) next() (int64, error) {
	if i.last == math.MaxInt64 {
		return 0, errNoID
	}
	i.last++
	return i.last, nil
}

// encodeRow returns a row as a line, with its LF.
func encodeRow(row any) ([]byte, error) {
	raw, err := pyjson.Encode(row)
	if err != nil {
		return nil, err
	}
	line, err := pyjson.Append(nil, raw, pyjson.Style{Portable: true, Replace: true})
	if err != nil {
		return nil, fmt.Errorf("encode record: %w", err)
	}
	return append(line, '\n'), nil
}

// PhaseOutput is the report of an agent about a phase: the "phase-output" event.
type PhaseOutput struct {
	SessionID    *string `json:"session_id"`
	PhaseID      string  `json:"phase_id"`
	PhaseName    string  `json:"phase_name"`
	Status       string  `json:"status"` // running, completed or failed
	SystemPrompt *string `json:"system_prompt"`
	UserInput    *string `json:"user_input"`
	Output       *string `json:"output"`
	Error        *string `json:"error"`
}

// clone returns a copy that shares no pointer with p.
func (p PhaseOutput) clone() PhaseOutput {
	for _, at := range []**string{&p.SessionID, &p.SystemPrompt, &p.UserInput, &p.Output, &p.Error} {
		if *at != nil {
			text := **at
			*at = &text
		}
	}
	return p
}

// PhaseRecord is a session's record of a phase. Times are RFC 3339 in UTC with
// milliseconds.
type PhaseRecord struct {
	ID           int64   `json:"id"`
	SessionID    string  `json:"session_id"`
	PhaseID      string  `json:"phase_id"`
	PhaseName    string  `json:"phase_name"`
	Status       string  `json:"status"`
	SystemPrompt *string `json:"system_prompt"`
	UserInput    *string `json:"user_input"`
	Output       *string `json:"output"`
	Error        *string `json:"error"`
	CreatedAt    string  `json:"created_at"`
	UpdatedAt    string  `json:"updated_at"`
}

// byCreation orders records by time, records with an unreadable time first.
func byCreation(a, b string, idA, idB int64) int {
	return cmp.Or(pytime.Of(a).Compare(pytime.Of(b)), cmp.Compare(idA, idB))
}

// statesLimit is how many bytes of ends are cached. The last one always is.
const statesLimit = 8 << 20

// logStates caches the ends of the logs that were written last.
type logStates struct {
	mu  sync.Mutex // guards lru
	lru *cache.LRU[string, *logReader]
}

const cachedStateSize = 256 + markSize

// take removes the end cached under key and returns it, or nil.
func (es *logStates) take(key string) *logReader {
	es.mu.Lock()
	defer es.mu.Unlock()
	k, _, _ := es.lru.Remove(key)
	return k
}

// put caches k under key. It drops the ends used longest ago when there are too many.
func (es *logStates) put(key string, k *logReader) {
	es.mu.Lock()
	defer es.mu.Unlock()
	es.lru.Put(key, k, min(cachedStateSize+k.size, statesLimit))
	for es.lru.Over() {
		es.lru.Evict()
	}
}

// nameSynced notes that the name of the log with this inode is durable.
func (es *logStates) nameSynced(key string, inode uint64) {
	es.mu.Lock()
	defer es.mu.Unlock()
	if k, ok := es.lru.Get(key); ok {
		k.synced = inode
	}
}
