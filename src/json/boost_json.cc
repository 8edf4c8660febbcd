// Boost.JSON is used without its library: this is the one file that compiles its sources.
#include <boost/json/src.hpp>
