package workload

import (
	"context"
	"encoding/json"
	"io"
	"math/rand/v2"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/test/powercut/cloud"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/history"
	"github.com/amplifier-go/sessionstorage/internal/test/powercut/reader"
)

// A Notebook makes calls and notes them.
type Notebook struct {
	position func() uint64
	reader   *reader.Reader
	account  *cloud.Account

	mu    sync.Mutex // guards the rest
	out   *json.Encoder
	rng   *rand.Rand
	calls int64
	err   error // of out
}

// NewNotebook notes in out the position of the record when calls began and returned, and
// the reader's view then. Some calls copy sessions to the account.
func NewNotebook(out io.Writer, position func() uint64, r *reader.Reader, a *cloud.Account, seed uint64) *Notebook {
	return &Notebook{position: position, reader: r, account: a, out: json.NewEncoder(out), rng: rand.New(rand.NewPCG(seed, 1))}
}

// Err returns why a note could not be written.
func (b *Notebook) Err() error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

// n returns a random number below n.
func (b *Notebook) n(n int) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.rng.IntN(n)
}

func (b *Notebook) note(n history.Note) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if err := b.out.Encode(n); err != nil && b.err == nil {
		b.err = err
	}
}

// call makes one call on the subject and notes it. It reports whether the call
// succeeded.
func (b *Notebook) call(ctx context.Context, s history.Subject, kind string, do func() error) bool {
	return b.begin(s, kind)(do(), func() history.State { return b.reader.State(ctx, s) })
}

// group makes a call beside others, which adds rows.
func (b *Notebook) group(s history.Subject, kind string, rows []string, do func() error) {
	b.begin(s, kind)(do(), func() history.State { return history.State{Rows: rows, Number: history.None} })
}

// begin notes that a call begins, and returns a function that notes that it has returned.
func (b *Notebook) begin(s history.Subject, kind string) func(error, func() history.State) bool {
	return b.start(history.Note{Subject: s, Kind: kind})
}

// start is begin.
func (b *Notebook) start(n history.Note) func(error, func() history.State) bool {
	b.mu.Lock()
	b.calls++
	n.Call = b.calls
	b.mu.Unlock()
	n.At = b.position()
	b.note(n)
	return func(err error, look func() history.State) bool {
		n.At = b.position()
		if err != nil {
			n.Err = err.Error()
		}
		state := look()
		n.State = &state
		b.note(n)
		return err == nil
	}
}
