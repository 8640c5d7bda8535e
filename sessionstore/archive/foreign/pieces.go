package foreign

import "iter"

// pieces is a list that grows without copies of itself, so that it takes no more
// memory than it must.
type pieces[T any] struct {
	full [][]T
	last []T
}

// pieceSize is how many elements one piece has.
const pieceSize = 4096

func (p *pieces[T]) add(v T) {
	if len(p.last) == pieceSize {
		p.full, p.last = append(p.full, p.last), make([]T, 0, pieceSize)
	}
	p.last = append(p.last, v)
}

// len returns how many elements there are.
func (p *pieces[T]) len() int { return len(p.full)*pieceSize + len(p.last) }

// at returns an element. It is not to be used once an element was added.
func (p *pieces[T]) at(i int32) *T {
	if n := int(i) / pieceSize; n < len(p.full) {
		return &p.full[n][i%pieceSize]
	}
	return &p.last[i%pieceSize]
}

// all yields the elements by their indexes.
func (p *pieces[T]) all() iter.Seq2[int, *T] {
	return func(yield func(int, *T) bool) {
		for i := range p.len() {
			if !yield(i, p.at(int32(i))) {
				return
			}
		}
	}
}

// newest returns the element that was added last, nil where there is none.
func (p *pieces[T]) newest() *T {
	if len(p.last) == 0 {
		return nil
	}
	return &p.last[len(p.last)-1]
}

// take returns all elements, and leaves the list empty.
func (p *pieces[T]) take() []T {
	if len(p.full) == 0 {
		all := p.last
		p.last = nil
		return all
	}
	all := make([]T, 0, len(p.full)*pieceSize+len(p.last))
	for i, piece := range p.full {
		all, p.full[i] = append(all, piece...), nil
	}
	all = append(all, p.last...)
	*p = pieces[T]{}
	return all
}
