//go:build !unix

package sessionstore_test

const nonblocking = 0
