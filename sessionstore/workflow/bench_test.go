package workflow

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

// BenchmarkAddMessage adds to conversations of so many messages of 1 KB.
func BenchmarkAddMessage(b *testing.B) {
	for _, size := range []int{0, 1000, 10_000} {
		b.Run(fmt.Sprintf("messages=%d", size), func(b *testing.B) {
			l, st := newLog(b, `{}`)
			l.now = time.Now
			content := strings.Repeat("x", 1000)
			line := `{"id": %d, "role": "user", "content": "` + content + `", "created_at": "2026-01-01T00:00:00.000Z"}` + "\n"
			var log strings.Builder
			for i := range size {
				fmt.Fprintf(&log, line, i+1)
			}
			writeFile(b, st, conversationFile, log.String())
			b.ReportAllocs()
			for b.Loop() {
				add(b, l, nil, userRole, content)
			}
		})
	}
}
