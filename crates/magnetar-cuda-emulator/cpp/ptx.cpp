// Reads the little that the stand-in driver wants to know of a PTX text.
#include "ptx.h"

#include <cctype>
#include <cstdlib>
#include <cstring>

// A number of a PTX text's head, such as 80 of `.target sm_80` or of `.version 8.0`; zero if it is not there.
uint64_t number_after(const std::string &ptx, const char *what) {
    const size_t at = ptx.find(what);
    uint64_t number = 0;
    for (size_t i = at + std::strlen(what); at != std::string::npos && i < ptx.size() && ptx[i] != '\n'; ++i) {
        if (std::isdigit((unsigned char)ptx[i])) number = number * 10 + (uint64_t)(ptx[i] - '0');
        else if (ptx[i] != '.') break;
    }
    return number;
}

// The entry points of a PTX text and the bytes of each of their parameters.
std::map<std::string, std::vector<size_t>> entries(const std::string &ptx) {
    std::map<std::string, std::vector<size_t>> found;
    for (size_t at = ptx.find(".entry "); at != std::string::npos; at = ptx.find(".entry ", at + 1)) {
        const size_t open = ptx.find('(', at), close = ptx.find("\n)", at);
        std::string name = ptx.substr(at + 7, open - at - 7);
        while (!name.empty() && std::isspace((unsigned char)name.back())) name.pop_back();
        std::vector<size_t> bytes;
        const std::string list = ptx.substr(open, close - open);
        for (size_t p = list.find(".param "); p != std::string::npos; p = list.find(".param ", p + 1)) {
            const std::string parameter = list.substr(p, list.find('\n', p) - p);
            const size_t bracket = parameter.find('[');
            if (bracket != std::string::npos) bytes.push_back(std::strtoull(&parameter[bracket + 1], nullptr, 10));
            else if (parameter.find("64 ") != std::string::npos) bytes.push_back(8);
            else if (parameter.find("32 ") != std::string::npos) bytes.push_back(4);
            else bytes.push_back(0);
        }
        found[name] = bytes;
    }
    return found;
}
