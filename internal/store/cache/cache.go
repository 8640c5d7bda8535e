// Package cache keeps recently used values within a bound.
//
// Every value has a cost, in bytes or in another unit of the user. The cache never evicts
// by itself: after each [LRU.Put], its user removes values beyond the bound with
// [LRU.Evict], and can close or count them.
package cache

// LRU holds values by key in the order of their last use. Its user guards it:
// it is not safe for concurrent use. [New] makes one.
type LRU[K comparable, V any] struct {
	max, cost int64
	at        map[K]*node[K, V]
	ends      node[K, V]  // next: the value used last; prev: the one used longest ago
	spare     *node[K, V] // of the value that was removed last
}

type node[K comparable, V any] struct {
	prev, next *node[K, V]
	key        K
	value      V
	cost       int64
}

// New returns an empty cache for values of at most max cost together. With a
// max of zero or less it holds nothing.
func New[K comparable, V any](max int64) *LRU[K, V] {
	c := &LRU[K, V]{max: max, at: map[K]*node[K, V]{}}
	c.ends.prev, c.ends.next = &c.ends, &c.ends
	return c
}

// Len returns the number of values, and Cost the sum of their costs.
func (c *LRU[K, V]) Len() int    { return len(c.at) }
func (c *LRU[K, V]) Cost() int64 { return c.cost }

// Get returns the value of key, which becomes the one used last.
func (c *LRU[K, V]) Get(key K) (value V, ok bool) {
	n := c.at[key]
	if n == nil {
		return value, false
	}
	c.unlink(n)
	c.link(n)
	return n.value, true
}

// Put sets the value of key, used last. A value that costs more than the bound is not
// kept, so that it drives no other value out; ok is false then, and key has no value. The
// caller evicts values while the cache is [LRU.Over] the bound.
func (c *LRU[K, V]) Put(key K, value V, cost int64) (ok bool) {
	if cost > c.max {
		c.Remove(key)
		return false
	}
	n := c.at[key]
	switch {
	case n != nil:
		c.unlink(n)
	case c.spare != nil:
		n, c.spare = c.spare, nil
	default:
		n = &node[K, V]{}
	}
	c.cost += cost - n.cost
	n.key, n.value, n.cost = key, value, cost
	c.at[key] = n
	c.link(n)
	return true
}

// Remove takes out the value of key and returns it with its cost.
func (c *LRU[K, V]) Remove(key K) (value V, cost int64, ok bool) {
	n := c.at[key]
	if n == nil {
		return value, 0, false
	}
	delete(c.at, key)
	c.unlink(n)
	c.cost -= n.cost
	value, cost = n.value, n.cost
	*n = node[K, V]{}
	c.spare = n
	return value, cost, true
}

// Over reports whether the values cost more than the bound.
func (c *LRU[K, V]) Over() bool { return len(c.at) > 0 && c.cost > c.max }

// Evict removes the least recently used value. There must be one.
func (c *LRU[K, V]) Evict() (key K, value V, cost int64) {
	key = c.ends.prev.key
	value, cost, _ = c.Remove(key)
	return key, value, cost
}

func (c *LRU[K, V]) link(n *node[K, V]) {
	n.prev, n.next = &c.ends, c.ends.next
	n.prev.next, n.next.prev = n, n
}

func (c *LRU[K, V]) unlink(n *node[K, V]) {
	n.prev.next, n.next.prev = n.next, n.prev
}
