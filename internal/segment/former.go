package segment

// former is what only older documents have: their lines as text, in the form raw,
// and in the place of the index a summary of each line of every stream.
type former struct {
	Lines  []Text        `json:"lines,omitempty"`
	Blocks []formerBlock `json:"blocks,omitempty"`
}

// A formerBlock is what is still read of a summary.
type formerBlock struct {
	Role string `json:"role"`
	Time string `json:"ts"`
}

func (f *formerBlock) block() Block { return Block{Role: roleOf(f.Role), Time: timeOf(f.Time)} }

// blocks returns the blocks of the lines of s. They come from the index, else from
// the lines, else, for lines in chunks, from the summaries.
func (f *former) blocks(s *Segment) []Block {
	if blocks, ok := s.Blocks(); ok {
		return blocks
	}
	blocks := make([]Block, len(s.rows))
	for i := range blocks {
		if r := &s.rows[i]; r.ref == nil || r.ref.Chunks == nil {
			blocks[i] = BlockOf(r.data)
		} else if len(f.Blocks) == len(blocks) {
			blocks[i] = f.Blocks[i].block()
		}
	}
	return blocks
}
