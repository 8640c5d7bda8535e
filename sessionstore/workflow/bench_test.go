package workflow

import (
	"fmt"
	"strings"
	"testing"

	"github.com/amplifier-go/sessionstorage/internal/disk/seam"
	"github.com/amplifier-go/sessionstorage/sessionstore"
)

// BenchmarkAddMessage adds messages of 1 KB to conversations of so many.
func BenchmarkAddMessage(b *testing.B) {
	content := strings.Repeat("x", 1000)
	for _, sync := range []bool{true, false} {
		for _, size := range []int{0, 1000, 50_000} {
			b.Run(fmt.Sprintf("messages=%d/sync=%t", size, sync), func(b *testing.B) {
				l := benchLog(b, sync, size)
				benchWrites(b, func() { add(b, l.Workflow, nil, userRole, content) }, l)
			})
		}
	}
}

// BenchmarkSavePhaseOutput saves outputs of 1 KB of so many phases by turns.
func BenchmarkSavePhaseOutput(b *testing.B) {
	content := strings.Repeat("x", 1000)
	for _, phases := range []int{7, 1000} {
		b.Run(fmt.Sprintf("phases=%d/sync=true", phases), func(b *testing.B) {
			l := benchLog(b, true, 0)
			i := 0
			benchWrites(b, func() {
				i++
				save(b, l.Workflow, PhaseOutput{PhaseID: fmt.Sprint("phase_", i%phases), Status: running, Output: &content})
			}, l)
		})
	}
}

// BenchmarkConversation reads a whole conversation of messages of 1 KB.
func BenchmarkConversation(b *testing.B) {
	for _, size := range []int{10, 1000} {
		b.Run(fmt.Sprintf("messages=%d", size), func(b *testing.B) {
			l := benchLog(b, false, size)
			b.ReportAllocs()
			b.SetBytes(int64(size) * 1000)
			for b.Loop() {
				conversation(b, l.Workflow)
			}
		})
	}
}

// counted is a log whose syncs are counted.
type counted struct {
	*Workflow
	syncs int
}

func benchLog(b *testing.B, sync bool, messages int) *counted {
	b.Helper()
	c := &counted{}
	opts := &sessionstore.Options{}
	if !sync {
		opts.Durability = sessionstore.Relaxed
	}
	st := openWith(b, b.TempDir(), opts, &seam.Seam{After: func(op seam.Op) {
		if op.Kind == seam.Sync || op.Kind == seam.SyncDir {
			c.syncs++
		}
	}})
	if err := st.Create(b.Context(), "s", sessionstore.Metadata{}); err != nil {
		b.Fatal(err)
	}
	fill(b, st, messages)
	c.Workflow = New(st, research)
	add(b, c.Workflow, nil, userRole, "first")
	return c
}

func benchWrites(b *testing.B, write func(), c *counted) {
	b.Helper()
	b.ReportAllocs()
	b.SetBytes(1000)
	c.syncs = 0
	n := 0
	for b.Loop() {
		write()
		n++
	}
	b.ReportMetric(float64(c.syncs)/float64(n), "fsyncs/op")
}
