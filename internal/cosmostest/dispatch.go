package cosmostest

import "net/http"

// serve answers a call, in the way of the service and without faults of the
// connection. The caller holds mu.
func (s *Server) serve(c *call) *answer {
	a, f := s.dispatch(c)
	if f != nil {
		a = f.answer()
	}
	return a
}

func (s *Server) dispatch(c *call) (*answer, *failure) {
	if f := s.authorize(c); f != nil {
		return nil, f
	}
	if len(c.Body) > maxItem && c.Op != OpCreate && c.Op != OpUpsert && c.Op != OpReplace {
		return nil, fail(http.StatusRequestEntityTooLarge, "Request size is too large")
	}
	switch c.Op {
	case OpAccount:
		return s.accountAnswer(c), nil
	case OpControl:
		return s.control(c)
	}
	db := s.databases[c.Database]
	if db == nil || db.containers[c.Container] == nil {
		return nil, fail(http.StatusNotFound, "Owner resource does not exist")
	}
	box := db.containers[c.Container]
	if c.At.Before(box.splitting) {
		return nil, failSub(http.StatusGone, subCompletingSplit, "The partition is completing a split")
	}
	if f := s.throttle(c, box); f != nil {
		return nil, f
	}
	a, f := s.data(c, box)
	if f != nil {
		a = f.answer()
	}
	box.budget.spent += a.charge
	return a, nil
}

func (s *Server) data(c *call, box *container) (*answer, *failure) {
	switch c.Op {
	case OpQuery:
		return s.queryRequest(c, box)
	case OpBatch:
		return s.batch(c, box)
	}
	if c.header.Get(headerPartitionKey) == "" {
		return nil, fail(http.StatusBadRequest, "The partition key supplied in %s header has fewer components than defined in the collection", headerPartitionKey)
	}
	return s.item(c, box)
}
