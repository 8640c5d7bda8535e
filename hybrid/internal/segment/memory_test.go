package segment

import (
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/amplifier-go/sessionstorage/internal/test/testenv"
)

// TestMemory: neither a cutter nor a reader holds more than a few times the
// longest line, however much there is.
func TestMemory(t *testing.T) { // not parallel: it looks at the heap of the process
	events, size := 100, 40<<10 // lines up to 5.5 MB, 275 MB together
	if !testenv.Long() {
		events = 20 // and 1.1 MB
	}
	s := newShelf()
	base, most := heap(), uint64(0)
	stored := uint64(0)
	look := func() { most = max(most, heap()-base-min(stored, heap()-base)) }
	c := NewCutter(Options{SID: testSID}, start(testLog))
	for d, err := range c.Documents(log(3, events, size, nil)) {
		require.NoError(t, err)
		s.put(d)
		stored += uint64(cap(d.Label) + cap(d.Body))
		look()
	}
	longest := uint64(events * size * 4 / 3)
	require.Less(t, most, 5*longest+heldMax, "cutting")
	t.Logf("cutting: %.1f MB besides the documents, the longest line has %.1f MB", mb(most), mb(longest))

	infos, tip := s.infos(t, testLog), c.At().Mark.Point()
	c, most = nil, 0
	n := 0
	for _, err := range Lines(s, testLog, infos, Origin(testLog), tip, nil) {
		require.NoError(t, err)
		if n++; n%10 == 0 {
			look()
		}
	}
	require.Equal(t, events, n)
	require.Less(t, most, 5*longest+heldMax, "reading")
	t.Logf("reading: %.1f MB", mb(most))
}

func mb(n uint64) float64 { return float64(n) / (1 << 20) }

// heap returns the bytes in use.
func heap() uint64 {
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.HeapAlloc
}
