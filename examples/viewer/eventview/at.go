package eventview

import (
	"encoding/hex"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/amplifier-go/sessionstorage/eventslog"
)

// formatAt returns the place of an event, for an address.
func formatAt(h eventslog.Head) string {
	return fmt.Sprintf("%d.%d.%d.%d.%x", h.Offset, h.Size, h.Next.Offset, h.Next.Line, h.Next.Sum)
}

var errAt = errors.New("not a place of an event")

// ParseAt returns the head that a [Row] was made of, as far as [eventslog.Log.Open]
// needs it. The text may come from any program: Open finds out whether the log has such
// an event.
func ParseAt(at string) (h eventslog.Head, err error) {
	parts := strings.Split(at, ".")
	if len(parts) != 5 {
		return h, errAt
	}
	var n [4]int64
	for i := range n {
		if n[i], err = strconv.ParseInt(parts[i], 10, 64); err != nil {
			return h, errAt
		}
	}
	sum, err := hex.DecodeString(parts[4])
	if err != nil || len(sum) != len(h.Next.Sum) {
		return h, errAt
	}
	h.Offset, h.Size = n[0], n[1]
	h.Next = eventslog.Cursor{Offset: n[2], Line: int(n[3]), Sum: [16]byte(sum)}
	if h.Offset < 0 || h.Size <= 0 || h.Next.Offset < h.Offset || h.Size > h.Next.Offset-h.Offset {
		return h, errAt
	}
	return h, nil
}
