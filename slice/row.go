package slice

import (
	"runtime"
	"sync"

	"github.com/amplifier-go/sessionstorage/internal/core"
	"github.com/amplifier-go/sessionstorage/internal/turns"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// seen is a message as package turns looks at it.
type seen struct{ sessionstore.Message }

func (m seen) From(name string) []byte { return core.From(m.Message, name) }
func (m seen) Blocks() []byte          { return core.Blocks(m.Message) }

// readRow looks into one message. The row keeps none of its bytes.
func readRow(m sessionstore.Message) turns.Row { return turns.Read(seen{m}) }

// share is the number of messages that is worth another goroutine.
const share = 2048

// readRows looks into every message once. It uses several goroutines for long
// conversations, and all have ended when it returns.
func readRows(msgs []sessionstore.Message) []turns.Row {
	rows := make([]turns.Row, len(msgs))
	workers := max(1, min(runtime.GOMAXPROCS(0), len(msgs)/share))
	part := (len(msgs) + workers - 1) / workers
	var group sync.WaitGroup
	for from := part; from < len(msgs); from += part {
		to := min(from+part, len(msgs))
		group.Go(func() { readInto(rows[from:to], msgs[from:to]) })
	}
	readInto(rows[:min(part, len(rows))], msgs)
	group.Wait()
	return rows
}

func readInto(rows []turns.Row, msgs []sessionstore.Message) {
	for i := range rows {
		rows[i] = readRow(msgs[i])
	}
}
