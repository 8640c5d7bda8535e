package slice

// mendRows mends what is wrong within messages.
func (m *mender) mendRows() {
	seen := map[string]bool{}
	var buf []byte
	for i := range m.pieces {
		for range 4 { // what was taken out may leave something else to mend
			buf = m.pieces[i].msg.AppendTo(buf[:0])
			s, found, line := m.examine(m.pieces[i].msg, buf, seen)
			if len(found) == 0 {
				for _, id := range s.reasoning {
					seen[id] = true
				}
				break
			}
			for _, f := range found {
				m.pieces[i].blame(f.reason)
			}
			m.replace(i, line)
		}
	}
}
