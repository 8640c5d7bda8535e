package cosmostest

// A Count adds up requests.
type Count struct {
	Requests int
	Charge   float64 // request units
	Written  int     // documents
	Read     int     // documents and rows
	Received int64   // bytes of the requests' bodies
	Sent     int64   // bytes of the answers' bodies
}

// Counters tell what a [Server] did since it was made or since
// [Server.ResetCounters].
type Counters struct {
	Total       Count
	ByOp        map[Op]Count
	ByStatus    map[int]int      // 0 for requests without an answer
	ByPartition map[string]Count // by Request.Partition, of requests on documents
	ByKind      map[string]Count // by the member "type" of the documents written; Charge and Written alone
}

func newCounters() Counters {
	return Counters{
		ByOp: map[Op]Count{}, ByStatus: map[int]int{}, ByPartition: map[string]Count{}, ByKind: map[string]Count{},
	}
}

func (c *Counters) add(r Record, a *answer) {
	c.Total = c.Total.plus(r)
	c.ByOp[r.Op] = c.ByOp[r.Op].plus(r)
	c.ByStatus[r.Status]++
	if r.Op.Data() {
		c.ByPartition[r.Partition] = c.ByPartition[r.Partition].plus(r)
	}
	if a == nil {
		return
	}
	for _, w := range a.written {
		kind := c.ByKind[w.kind]
		kind.Written++
		kind.Charge += w.charge
		c.ByKind[w.kind] = kind
	}
}

func (c Count) plus(r Record) Count {
	c.Requests++
	c.Charge += r.Charge
	c.Written += r.Written
	c.Read += r.Read
	c.Received += int64(r.Received)
	c.Sent += int64(r.Sent)
	return c
}
