package resync

import (
	"github.com/amplifier-go/sessionstorage/internal/cosmos"
	"github.com/amplifier-go/sessionstorage/internal/head"
)

// Cost is what writing anew would store and remove.
type Cost struct {
	Documents int   // that are stored
	Bytes     int64 // of these
	Removed   int   // documents
	Requests  int
	Units     float64
}

// store counts a document that is to be stored.
func (c *Cost) store(body []byte, replaces bool) {
	c.Documents++
	c.Bytes += int64(len(body))
	c.Units += cosmos.WriteUnits(len(body), replaces)
}

func (c *Cost) entry(e *head.Catalogue, replaces bool) error {
	doc, err := e.Encode()
	if err != nil {
		return err
	}
	c.Requests++
	c.store(doc.Body, replaces)
	return nil
}
