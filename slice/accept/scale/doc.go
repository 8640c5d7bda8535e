// Package scale makes of pictures that a provider refuses such that it takes. It decodes them,
// which package accept does not.
package scale
