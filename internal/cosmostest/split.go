package cosmostest

import "time"

// Split makes a container what it is while the service splits its physical partitions:
// for the time takes, requests on documents are refused with 410 and 1007. Session
// tokens and continuations from before are good after it.
func (s *Server) Split(db, container string, takes time.Duration) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	box, err := s.find(db, container)
	if err != nil {
		return err
	}
	box.splitting = s.gate.now().Add(takes)
	return nil
}
