package eventslog

// Close ends every Follow, waits for appends under way and releases the file.
// Further calls of all methods but Close return [fs.ErrClosed].
func (l *Log) Close() error {
	l.mu.Lock()
	if l.closed {
		l.mu.Unlock()
		return nil
	}
	l.closed = true
	close(l.done)
	l.mu.Unlock()

	l.turn <- struct{}{}
	defer func() { <-l.turn }()
	l.commit()
	return l.release()
}
