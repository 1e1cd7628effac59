// What the stand-in driver wants to know of a PTX text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

// A number of its head, such as 80 of `.target sm_80` or of `.version 8.0`; zero if it is not there.
uint64_t number_after(const std::string &ptx, const char *what);

// Its entry points and the bytes of each of their parameters.
std::map<std::string, std::vector<size_t>> entries(const std::string &ptx);
