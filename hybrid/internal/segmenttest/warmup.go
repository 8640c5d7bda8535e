// Package segmenttest is for tests that store segments in synctest bubbles.
package segmenttest

import "github.com/amplifier-go/sessionstorage/hybrid/internal/segment"

// WarmUp makes the compressors, which serve the whole process and hold channels,
// before any bubble does: channels made in one are of no use outside. It is for
// TestMain.
func WarmUp() error {
	_, docs := segment.Pack(segment.Identity{}.SID(), make([]byte, 64<<10), "0123456789abcdef")
	for d, err := range docs {
		if err != nil {
			return err
		}
		if _, err := segment.DecodeChunk(d); err != nil {
			return err
		}
	}
	return nil
}
